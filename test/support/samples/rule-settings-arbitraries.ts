import fc from 'fast-check';
import type { RuleSettings } from '../../../shared/domain/rule-query/rule-settings.ts';
import type { RuleTerm, SearchedText } from '../../../shared/matching/rule.ts';
import { ALIKE, nastyText } from './matching-arbitraries.ts';

/** Texts that mean something in the textual form of a rule, or are close to it. */
const SYNTAX = [
  ...['OR', 'AND', 'NOT', 'or', 'ORACLE', 'a OR b', 'title:x', 'sub:', 'std::vector', '10:30', 'term:', ':', '::'],
  ...[
    '-game',
    '--',
    '–x',
    'a-',
    '=Rust',
    '==',
    'rust*',
    '*',
    '**',
    '(',
    ')',
    '(a)',
    ':-)',
    '()',
    'a(b',
    ',',
    'a,b',
    ';',
  ],
  ...[
    '"',
    '""',
    'say "hi"',
    '\\',
    '\\"',
    '"\\',
    'a\\',
    '“',
    '”',
    '„a“',
    "don't",
    '’',
    "'a'",
    'C++',
    'C#',
    '.NET',
    '@a',
  ],
  ...[
    'a\nb',
    '\t',
    '\u3000',
    '\u00a0a',
    '\u200b',
    '\ufeff',
    '_',
    '_a_',
    '&amp;',
    '&quot;',
    'é',
    'e\u0301',
    '咖啡',
    'کلید',
  ],
];

/** Anything that a string of a request can hold: no NUL, no half of a surrogate pair. */
const text: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 3, arbitrary: fc.constantFrom(...SYNTAX) },
    { weight: 1, arbitrary: fc.constantFrom(...ALIKE) },
    { weight: 2, arbitrary: nastyText(6) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom(...SYNTAX, ' '), { maxLength: 4 }).map((parts) => parts.join('')),
    },
  )
  .map((written) => written.replaceAll('\0', '').toWellFormed());

const texts = fc.subarray<SearchedText>(['title', 'body', 'post_title'], { minLength: 1 });

const term: fc.Arbitrary<RuleTerm> = fc.record(
  { text, prefix: fc.constant(true), caseSensitive: fc.constant(true), in: texts },
  { requiredKeys: ['text'] },
);

/** Settings with any texts and names, whether or not they are valid; with at least one keyword or term. */
export const ruleSettings: fc.Arbitrary<RuleSettings> = fc
  .record(
    {
      keywords: fc.array(text, { maxLength: 3 }),
      exclude: fc.array(text, { maxLength: 2 }),
      subreddits: fc.array(text, { maxLength: 2 }),
      posts: fc.boolean(),
      comments: fc.boolean(),
      nsfw: fc.boolean(),
      threadOnce: fc.boolean(),
      terms: fc.array(term, { minLength: 1, maxLength: 3 }),
      require: fc.array(fc.array(fc.oneof(text, term), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      matchIn: texts,
      excludeSubreddits: fc.array(text, { minLength: 1, maxLength: 2 }),
      authors: fc.array(text, { minLength: 1, maxLength: 2 }),
      excludeAuthors: fc.array(text, { minLength: 1, maxLength: 2 }),
      languages: fc.subarray(['en', 'de', 'und'], { minLength: 1 }),
    },
    { requiredKeys: ['keywords', 'exclude', 'subreddits', 'posts', 'comments', 'nsfw', 'threadOnce'] },
  )
  .filter(({ keywords, terms = [] }) => keywords.length + terms.length > 0);
