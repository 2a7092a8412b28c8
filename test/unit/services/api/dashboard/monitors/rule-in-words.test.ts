import { describe, expect, test } from 'vitest';
import { ruleInWords } from '../../../../../../services/api/dashboard/monitors/rule-in-words.ts';
import type { RuleSettings } from '../../../../../../shared/domain/rule-query/rule-settings.ts';

const RULE: RuleSettings = {
  keywords: ['rust'],
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: false,
  threadOnce: false,
};
const [WATCHES, MATCHES] = [
  'Watches posts and comments in all communities, without those marked NSFW.',
  'Matches the whole word “rust”.',
];

describe('a rule in words', () => {
  test.each<[string, Partial<RuleSettings>, string[]]>([
    ['one keyword', {}, [WATCHES, MATCHES]],
    [
      'excluded communities',
      { excludeSubreddits: ['a', 'b'], posts: false, nsfw: true },
      ['Watches comments in all communities but not in r/a or r/b.', MATCHES],
    ],
    [
      'nothing watched',
      { posts: false, comments: false },
      ['Watches neither posts nor comments, so it never matches.', MATCHES],
    ],
    [
      'all kinds of terms',
      {
        keywords: ['rust', 'borrow checker', 'C++', '咖啡', '✓✓'],
        terms: [
          { text: 'hir', prefix: true },
          { text: 'IT', caseSensitive: true, in: ['title', 'post_title'] },
        ],
      },
      [
        WATCHES,
        "Matches the whole word “rust”, the whole words “borrow checker”, exactly “C++”, the characters “咖啡”, the symbols “✓✓”, a word that begins with “hir”, or the whole word “IT”, with small and capital letters as written (only in the title of a post or the title of a comment's post).",
      ],
    ],
    [
      'match_in, groups and excluded terms',
      {
        matchIn: ['title', 'body'],
        require: [['hiring', { text: 'job', prefix: true }], ['remote']],
        exclude: ['trust fund', 'game'],
      },
      [
        WATCHES,
        'Matches the whole word “rust”, only in the title of a post or the text of a post or comment.',
        'AND the whole word “hiring” or a word that begins with “job”.',
        'AND the whole word “remote”.',
        'AND NOT the whole words “trust fund” or the whole word “game”, in any text.',
      ],
    ],
    [
      'people, languages and threads',
      { authors: ['ana', 'bob'], excludeAuthors: ['bot'], languages: ['en', 'de', 'und'], threadOnce: true },
      [
        WATCHES,
        MATCHES,
        'Only by u/ana or u/bob.',
        'Not by u/bot.',
        'Only in English, German, or a language that is not decided.',
        'At most one match a thread and day (UTC); further ones are kept but not sent.',
      ],
    ],
  ])('%s', (_, rule, sentences) => {
    expect(ruleInWords({ ...RULE, ...rule })).toEqual(sentences);
  });

  test('holds what people wrote unchanged, for templates to escape', () => {
    expect(ruleInWords({ ...RULE, keywords: ['<b>&"'] })[1]).toBe('Matches exactly “<b>&"”.');
  });
});
