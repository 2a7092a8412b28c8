import fc from 'fast-check';
import { ITEM_LANGUAGES } from '../../../schemas/messages/forum-item.ts';
import type { RuleSettings } from '../../../shared/monitors/rules/print-rule-query.ts';
import type { RuleTerm, SearchedText } from '../../../shared/matching/rule.ts';
import { validateTerms } from '../../../shared/matching/validate-rule.ts';
import { ALIKE, nastyText } from './matching-arbitraries.ts';

/** Texts that mean something in the textual form of a rule, or are close to it. */
const SYNTAX = [
  ...['OR', 'AND', 'NOT', 'or', 'ORACLE', 'a OR b', 'title:x', 'sub:', 'std::vector', '10:30'],
  ...['term:', ':', '::', '-game', '--', '–x', 'a-', '=Rust', '==', 'rust*', '*', '**', '(', ')'],
  ...['(a)', ':-)', '()', 'a(b', ',', 'a,b', ';', '"', '""', 'say "hi"', '\\', '\\"', '"\\', 'a\\'],
  ...['“', '”', '„a“', "don't", '’', "'a'", 'C++', 'C#', '.NET', '@a', 'a\nb', '\t', '\u3000'],
  ...['\u00a0a', '\u200b', '\ufeff', '_', '_a_', '&amp;', '&quot;', 'é', 'e\u0301', '咖啡', 'کلید'],
];

/** Anything that a string of a request can hold: no NUL, no half of a surrogate pair. */
const anyText: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 3, arbitrary: fc.constantFrom(...SYNTAX) },
    { weight: 1, arbitrary: fc.constantFrom(...ALIKE) },
    { weight: 2, arbitrary: nastyText(6) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 90, maxLength: 100 }) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom(...SYNTAX, ' '), { maxLength: 4 }).map((parts) => parts.join('')),
    },
  )
  .map((written) => written.replaceAll('\0', '').toWellFormed());

const validText = anyText.filter((text) => validateTerms('exclude', [text]).faults.length === 0);
const validPrefix = fc.constantFrom('hir', 'Rust', "don't", 'snake_case', 'Über', 'ножка', ' rust ', 'ｆｕｌｌ');
const community = fc.constantFrom('rust', 'Rust', 'r/golang', '/r/a_1', 'u_-a-', 'u_x_y', 'AND', 'OR');
const account = fc.constantFrom('a', 'A', '-', '--', '-a', 'u/-b', '/u/c', 'user-1', 'NOT', 'OR', 'u/u');

/** The parts of which settings consist. */
interface Parts {
  text: fc.Arbitrary<string>;
  prefix: fc.Arbitrary<string>;
  community: fc.Arbitrary<string>;
  account: fc.Arbitrary<string>;
  language: fc.Arbitrary<string>;
}

/** Settings with at least one keyword or term; optional members are absent or not empty. */
function settingsOf({ text, prefix, ...names }: Parts): fc.Arbitrary<RuleSettings> {
  const conditions = { caseSensitive: fc.constant(true as const), in: searchedTexts };
  const term: fc.Arbitrary<RuleTerm> = fc.oneof(
    fc.record({ text, ...conditions }, { requiredKeys: ['text'] }),
    fc.record({ text: prefix, prefix: fc.constant(true), ...conditions }, { requiredKeys: ['text', 'prefix'] }),
  );
  const some = <T>(entry: fc.Arbitrary<T>) => fc.array(entry, { minLength: 1, maxLength: 3 });
  const flag = fc.boolean();
  const settings = fc.record(
    {
      keywords: fc.array(text, { maxLength: 3 }),
      exclude: fc.array(text, { maxLength: 2 }),
      subreddits: fc.array(names.community, { maxLength: 2 }),
      ...{ posts: flag, comments: flag, nsfw: flag, threadOnce: flag },
      terms: some(term),
      require: some(some(fc.oneof(text, term))),
      matchIn: searchedTexts,
      excludeSubreddits: some(names.community),
      authors: some(names.account),
      excludeAuthors: some(names.account),
      languages: some(names.language),
    },
    { requiredKeys: ['keywords', 'exclude', 'subreddits', 'posts', 'comments', 'nsfw', 'threadOnce'] },
  );
  return settings.filter(({ keywords, terms = [] }) => keywords.length + terms.length > 0);
}

const searchedTexts = fc.subarray<SearchedText>(['title', 'body', 'post_title'], { minLength: 1 });

/** Settings whose texts and names are anything, valid or not, except that languages are in lower case. */
export const anySettings = settingsOf({
  text: anyText,
  prefix: anyText,
  community: anyText,
  account: anyText,
  language: fc.constantFrom('en', 'de', 'und', 'xx', '', '-a', 'a,b'),
});

/** Settings that a request may hold. They need not be as they are stored: spaces, prefixes, equal terms. */
export const validSettings = settingsOf({
  text: validText,
  prefix: validPrefix,
  community,
  account,
  language: fc.constantFrom(...ITEM_LANGUAGES, 'und'),
});
