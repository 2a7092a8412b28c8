import fc from 'fast-check';
import type { MatchItem, Rule, RuleTerm, SearchedText } from '../../../shared/matching/rule.ts';
import { nastyRule, nastyTerm, nastyText, textAround } from './matching-arbitraries.ts';
import type { Scene } from './matching-arbitraries.ts';

/** Words that begin alike and differ in case, with everything that belongs to words or ends them. */
const PREFIXES = [
  ...['aba', 'Aba', 'ABA', 'abab', 'ababa', 'abaß', 'sss', 'SSS', 'sſs', 'жжж', 'ЖЖЖ', "ab'a", "ab's", 'a_b', 'a_B_s'],
  ...['ab2', 'éab', 'e\u0301ab', 'İab', 'abı', 'ﬁab', '𐐀𐐨', 'H\u0331ab', 'ẖab', 'ΐab', 'Ϊ\u0301ab', 'AbA bA', 'abＡ'],
];
/** Terms whose letters can be written in another case, of every shape. */
const CASED = [
  ...['A', 'Ab', 'aB', 'A b', 'a B', 'A-b', 'a.B', 'B+', 'A+ b', 'a手', 'A手', 'Ⓐ', 'ⓐ', 'Ⓐ+', 'ⓐ b', '手', '+'],
];

const searched: fc.Arbitrary<SearchedText[]> = fc.subarray(['title', 'body', 'post_title']);
const sometimes = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

export const refinedTerm: fc.Arbitrary<RuleTerm> = fc
  .record({
    text: fc.oneof(fc.constantFrom(...PREFIXES), fc.constantFrom(...CASED), nastyTerm),
    prefix: sometimes(fc.boolean()),
    caseSensitive: sometimes(fc.boolean()),
    in: sometimes(searched),
  })
  .map((term) => withoutUndefined(term) as RuleTerm);

const NAMES = ['one', 'Two', 'u/THREE', '[deleted]'];

/** A rule with some of the conditions that most rules do not have. */
export const refinedRule: fc.Arbitrary<Rule> = fc
  .record({
    rule: nastyRule,
    conditions: fc.record({
      terms: sometimes(fc.array(refinedTerm, { maxLength: 4 })),
      require: sometimes(
        fc.array(fc.array(fc.oneof(nastyTerm, refinedTerm), { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
      ),
      matchIn: sometimes(searched),
      excludeSubreddits: rarely(fc.subarray(['r/a', 'B', 'd'])),
      authors: rarely(fc.subarray(NAMES)),
      excludeAuthors: rarely(fc.subarray(NAMES)),
      languages: rarely(fc.subarray(['en', 'de', 'und'])),
    }),
  })
  .map(({ rule, conditions }) => withoutUndefined({ ...rule, ...conditions }) as unknown as Rule);

function rarely<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

/** The text with the case of its letters changed, or with something appended to its words. */
const varied = (text: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    text,
    text,
    text.toUpperCase(),
    text.toLowerCase(),
    `${text}b`,
    `${text.toUpperCase()}'s`,
    `${text}_a`,
  );

function textOf(rules: readonly Rule[], pieces: number): fc.Arbitrary<string> {
  const written = rules.flatMap(({ keywords, exclude, terms = [], require = [] }) =>
    [...keywords, ...exclude, ...terms, ...require.flat()].map((term) => (typeof term === 'string' ? term : term.text)),
  );
  const whole = written.length === 0 ? fc.constant('') : fc.constantFrom(...written).chain(varied);
  const joint = fc.constantFrom(' ', ' ', ', ', '. ', '-', '');
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.array(fc.tuple(whole, joint), { maxLength: pieces }).map((parts) => parts.flat().join('')),
    },
    { weight: 1, arbitrary: textAround(written, pieces) },
    { weight: 1, arbitrary: nastyText(pieces) },
  );
}

function refinedItem(rules: readonly Rule[]): fc.Arbitrary<MatchItem> {
  return fc
    .record({
      kind: fc.constantFrom('post' as const, 'comment' as const),
      title: textOf(rules, 5),
      text: textOf(rules, 8),
      subreddit: fc.constantFrom('a', 'A', 'b', 'C', 'd'),
      nsfw: fc.boolean(),
      author: sometimes(fc.constantFrom('ONE', 'two', 'Three', 'four', '[deleted]')),
      language: sometimes(fc.constantFrom('en', 'de', 'fr', 'und')),
    })
    .map((item) => withoutUndefined(item) as MatchItem);
}

/** Monitors with and without such conditions, and items that contain their terms, also in another case or longer. */
export function refinedScene(maxRules: number, maxItems: number): fc.Arbitrary<Scene> {
  return fc
    .array(fc.oneof({ weight: 4, arbitrary: refinedRule }, { weight: 1, arbitrary: nastyRule }), {
      minLength: 1,
      maxLength: maxRules,
    })
    .chain((rules) =>
      fc.record({
        rules: fc.constant(rules),
        items: fc.array(refinedItem(rules), { minLength: 1, maxLength: maxItems }),
      }),
    );
}
