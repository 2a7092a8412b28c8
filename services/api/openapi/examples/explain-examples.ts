import type { ItemExplanation, RuleExplanation } from '../../../../schemas/api/rules.ts';
import { explain } from '../../../../shared/matching/explain.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
import { explanationResource } from '../../monitors/explanation-resource.ts';

const RULE: Rule = {
  keywords: ['rust', 'memory safety'],
  exclude: ['rust belt'],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: false,
};
const COMMENT: MatchItem = {
  kind: 'comment',
  title: 'Which language next?',
  text: 'My trusty C++ is fine, but safety of memory matters.',
  subreddit: 'programming',
  author: 'ana',
  nsfw: false,
};
const POST: MatchItem = { ...COMMENT, kind: 'post', title: 'Rust 2 is out', text: 'Memory safety for all.' };

const ofText: RuleExplanation = { ...explanationResource(explain(RULE, COMMENT)), history: [] };
const ofThing: ItemExplanation = {
  ...explanationResource(explain(RULE, POST)),
  item: {
    thing_id: 't3_1b6xk0p',
    kind: 'post',
    subreddit: POST.subreddit,
    author: 'ana',
    title: POST.title,
    body: POST.text,
    permalink: 'https://www.reddit.com/r/programming/comments/1b6xk0p/rust_2_is_out/',
    created_utc: '2026-03-04T10:30:00.000Z',
  },
  history: [
    { event: 'created', at: '2026-03-04T10:30:00.000Z', message: 'Created on the forum.' },
    { event: 'seen', at: '2026-03-04T10:30:02.118Z', message: 'First seen, by the source post-ids.' },
    {
      event: 'judged',
      at: '2026-03-04T10:30:02.118Z',
      version: 2,
      message: 'Version 2 of the rule, in force since 2026-03-01T08:00:00.000Z, matched it.',
    },
    {
      event: 'not_recorded',
      at: null,
      reason: 'paused',
      message: 'The monitor was paused when it entered.',
    },
  ],
};

/** Requests and answers of the routes that explain, invented. */
export const explainExamples = {
  body: {
    settings: { keywords: RULE.keywords, exclude: RULE.exclude },
    item: { kind: 'comment', body: COMMENT.text, title: COMMENT.title, subreddit: COMMENT.subreddit },
  },
  ofText,
  thing: 't3_1b6xk0p',
  ofThing,
  unknown: {
    matched: null,
    terms: [],
    excludes: [],
    filters: [],
    item: null,
    history: [
      {
        event: 'not_archived',
        at: null,
        message: 'It is not in the archive: not seen, or seen more than 30 days ago.',
      },
    ],
  } satisfies ItemExplanation,
};
