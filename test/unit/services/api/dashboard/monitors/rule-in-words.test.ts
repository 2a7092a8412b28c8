import { expect, test } from 'vitest';
import { ruleInWords } from '../../../../../../services/api/dashboard/monitors/rule-in-words.ts';
import type { RuleSettings } from '../../../../../../shared/domain/rule-query/rule-settings.ts';

const RULE: RuleSettings = {
  keywords: ['<b>&"'],
  exclude: [],
  subreddits: [],
  posts: false,
  comments: false,
  nsfw: false,
  threadOnce: false,
};

test('a short rule has two sentences, which hold what people wrote unchanged', () => {
  expect(ruleInWords(RULE)).toEqual([
    'Watches neither posts nor comments, so it never matches.',
    'Matches exactly “<b>&"”.',
  ]);
});

test('a long rule has a sentence for each of its parts', () => {
  const rule: RuleSettings = {
    keywords: ['rust', 'borrow checker', 'C++', '咖啡', '✓✓'],
    terms: [
      { text: 'hir', prefix: true },
      { text: 'IT', caseSensitive: true, in: ['title', 'post_title'] },
    ],
    matchIn: ['title', 'body'],
    require: [['hiring', { text: 'job', prefix: true }], ['remote']],
    exclude: ['trust fund', 'game'],
    subreddits: ['jobs', 'rust'],
    excludeSubreddits: ['a', 'b'],
    posts: true,
    comments: true,
    nsfw: false,
    authors: ['ana', 'bob'],
    excludeAuthors: ['bot'],
    languages: ['en', 'de', 'und'],
    threadOnce: true,
  };
  expect(ruleInWords(rule)).toEqual([
    'Watches posts and comments in r/jobs or r/rust but not in r/a or r/b, without those marked NSFW.',
    "Matches the whole word “rust”, the whole words “borrow checker”, exactly “C++”, the characters “咖啡”, the symbols “✓✓”, a word that begins with “hir”, or the whole word “IT”, with small and capital letters as written (only in the title of a post or the title of a comment's post), only in the title of a post or the text of a post or comment.",
    'AND the whole word “hiring” or a word that begins with “job”.',
    'AND the whole word “remote”.',
    'AND NOT the whole words “trust fund” or the whole word “game”, in any text.',
    'Only by u/ana or u/bob.',
    'Not by u/bot.',
    'Only in English, German, or a language that is not decided.',
    'At most one match a thread and day (UTC); further ones are kept but not sent.',
  ]);
});
