import { expect, test } from 'vitest';
import { parseAnswer } from '../../../../../shared/upstream/parsing/parse-page.ts';
import {
  rulesSchema,
  subredditSchema,
  toRules,
  toSubreddit,
} from '../../../../../shared/upstream/parsing/to-subreddit.ts';
import * as samples from '../../../../support/samples/upstream-samples.ts';

const OPTIONS = { siteUrl: 'https://www.reddit.com', now: 1_790_000_500_000 };

test('maps a community and its rules', () => {
  const rules = toRules(parseAnswer(rulesSchema, samples.RULES));
  expect(toSubreddit(parseAnswer(subredditSchema, samples.SUBREDDIT), OPTIONS, rules)).toEqual({
    name: 'metals',
    title: 'Metals',
    public_description: 'All about metals',
    description: 'Long text',
    url: 'https://www.reddit.com/r/metals/',
    icon: 'https://styles.example/icon.png?width=256&s=1',
    type: 'public',
    subscribers: 1234,
    created_at: '2008-01-10T21:20:00.000Z',
    over_18: false,
    rules: [
      {
        kind: 'all',
        short_name: 'Be kind',
        description: 'Please',
        violation_reason: 'Unkind',
        priority: 0,
        created_at: '2011-03-13T07:06:40.000Z',
      },
      {
        kind: 'comment',
        short_name: 'No puns',
        description: '',
        violation_reason: 'A pun',
        priority: 1,
        created_at: '2011-03-13T07:06:40.000Z',
      },
    ],
  });
});
