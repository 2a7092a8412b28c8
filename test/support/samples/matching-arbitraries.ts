import fc from 'fast-check';
import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';

/** Few enough parts that terms occur in texts, with everything that has a rule for folding or cutting into words. */
const LETTERS = [
  ...['a', 'b', 's', 'A', 'ab', 'K', '\u212a', 'I', 'İ', 'ı', 'ß', 'ẞ', 'ς', 'Σ'],
  ...['ſ', '2', '²', '①', 'é', 'e', 'E', 'd', 'ﬁ', 'ﬃ', 'ﬆ', 'ａ', '＋', '𝗮'],
  ...['𝟐', 'ℎ', '𐐀', '𐐨', 'ж', 'Ж', 'א', '\ufb2a', 'ش', 'न', 'ि', '\u212b', 'H'],
];
const MARKS = ['\u0301', '\u0307', '\u0323', '\u0331', '\u20e3', '\u3099', '\uff9e', '\u0e31', '\u0344'];
const SPACELESS = [
  ...['手', '机', '\uf900', '𠮷', '𠮸', 'ひ', 'カ', 'ｶ', 'か', 'ー', '・'],
  ...['･', '한', '\u1112', '\u1161', '\u11ab', 'ㄅ', 'ก', 'ข', 'ກ', 'ក', 'က'],
];
const SYMBOLS = [
  ...['+', '+', '#', '.', '$', '!', '(', '/', ',', '*', '&', ';', '\u037e', '\\', '™', '≠', '–', '☝'],
  ...[
    '\u2764',
    '"',
    '“',
    '🦀',
    '👍',
    '👩',
    '🏽',
    '🏿',
    '🇩',
    '🇪',
    '🇩🇪',
    '👩‍🔬',
    '👨‍👩',
    '\ud83d',
    '\ude00',
    '\uffff',
    '\0',
  ],
];
const JOINTS = ["'", "d'", "qu'", 'un’', '’', '´', 'ʼ', '‘', '`', "'s", "'S", '_', '__', '-', '-', '‑', '‐'];
const SPACES = [' ', ' ', ' ', '  ', '\t', '\n', '\u00a0', '\u3000', '\u2000', '\u2028', '\u3164'];
const INVISIBLE = [
  '\u200b',
  '\u200b',
  '\u200d',
  '\u200c',
  '\u00ad',
  '\ufe0f',
  '\ufeff',
  '\u2060',
  '\u180b',
  '\u200e',
  '\u034f',
];
const ESCAPES = [
  ...['&amp;', '&lt;', '&#39;', '&#x27;', '&nbsp;', '&#x200B;', '&#769;', '&#x1F3FD;', '&#97;', '&#x1D5EE;', '&#0;'],
  ...[
    '&#xD83D;',
    '\\_',
    '\\-',
    '\\.',
    '\\*',
    '\\a',
    '\\\\',
    '\\+',
    '\\&',
    '\\`',
    '`',
    '`',
    '``',
    '```',
    '~~~',
    '    ',
    '- ',
    '&am',
    '&#',
    '&#x',
    '&#xFE0F;',
    '&quot;',
    '&#9;',
  ],
];

/** All kinds of parts are equally likely, except that letters and spaces are more likely. */
const part = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...LETTERS) },
  { weight: 2, arbitrary: fc.constantFrom('a', 'b', 's') },
  { weight: 1, arbitrary: fc.constantFrom(...MARKS) },
  { weight: 3, arbitrary: fc.constantFrom(...SPACELESS) },
  { weight: 4, arbitrary: fc.constantFrom(...SYMBOLS) },
  { weight: 3, arbitrary: fc.constantFrom(...JOINTS) },
  { weight: 4, arbitrary: fc.constantFrom(...SPACES) },
  { weight: 1, arbitrary: fc.constantFrom(...INVISIBLE) },
  { weight: 1, arbitrary: fc.constantFrom(...ESCAPES) },
);

export function nastyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(part, { maxLength }).map((parts) => parts.join(''));
}

/**
 * Terms with common prefixes, terms that contain each other or differ in a hyphen, so that rules share index entries.
 */
export const ALIKE = [
  ...['a', 'b', 'ab', 'a b', 'a b a', 'a b a b', 'b a', 'b a b', 'A', "a's", "a's b", 'a_b', "a'b", 'a-b', 'a-b-a'],
  ...['b-a', 'a.b', 'a.b.a', 'a+', 'a++', '+a', '++a', '.a', '.b', '#a', 'a#', 'b#', 'a&b', 'a+ b', 'a b+'],
  ...['a-b+ a', 'a b+ a', 'a b-a', 'a-b a', 'a-b a+', 'a b-a+', 'a b a+', '+a b', '+a-b', 'b+ a b', '手', '手机', '机'],
  ...['机手', '手手', '手机手', '手 机', '手a', 'a手', '手+', '+手', 'カ', 'ガ', '𠮷', '𠮷𠮸', '한', 'ก', '+'],
  ...[
    '++',
    '+++',
    '+ +',
    '+-',
    '!',
    '!!',
    '🦀',
    '🦀🦀',
    'a 🦀',
    '🦀 a',
    '🦀a',
    '👍',
    '👍🏽',
    '❤️',
    '™',
    'a™',
    '🏽',
    '🇩🇪',
    '🇪🇩',
    '👩‍🔬',
    '👨‍👩‍👩',
    '👩 🇩🇪',
    'a 👩‍🔬',
  ],
];

export const nastyTerm: fc.Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: nastyText(5) },
  { weight: 2, arbitrary: fc.constantFrom(...ALIKE) },
);

export const nastyRule: fc.Arbitrary<Rule> = fc.record({
  keywords: fc.array(nastyTerm, { maxLength: 5 }),
  exclude: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(nastyTerm, { maxLength: 3 })),
  subreddits: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.subarray(['r/a', 'B', ' /R/c '])),
  posts: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.boolean()),
  comments: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.boolean()),
  nsfw: fc.boolean(),
});

/** A whole term, or a piece of one. */
const planted = (terms: readonly string[]): fc.Arbitrary<string> =>
  terms.length === 0
    ? fc.constant('')
    : fc
        .tuple(fc.constantFrom(...terms), fc.nat(), fc.nat(), fc.boolean())
        .map(([term, one, other, isWhole]) =>
          isWhole ? term : term.slice(one % (term.length + 1), 1 + (other % (term.length + 1))),
        );

/** Terms and pieces of them among nasty parts, some between spaces, some adjacent. */
export function textAround(terms: readonly string[], pieces: number): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 3, arbitrary: planted(terms) },
    { weight: 2, arbitrary: nastyText(3) },
    { weight: 2, arbitrary: fc.constantFrom(' ', '-', ', ', '\n', '.', "'", '+') },
  );
  return fc.oneof(
    { weight: 20, arbitrary: fc.array(piece, { maxLength: pieces }).map((parts) => parts.join('')) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '[deleted]',
        ' [removed]\n',
        '[removed] a',
        '[deleted by user]',
        '[ Removed by Reddit ]',
        '',
      ),
    },
  );
}

export function itemAround(rules: readonly Rule[]): fc.Arbitrary<MatchItem> {
  const terms = rules.flatMap(({ keywords, exclude }) => [...keywords, ...exclude]);
  return fc.record({
    kind: fc.constantFrom('post', 'comment'),
    title: textAround(terms, 5),
    text: textAround(terms, 12),
    subreddit: fc.constantFrom('a', 'A', 'b', 'C', 'd'),
    nsfw: fc.boolean(),
  });
}

export interface Scene {
  readonly rules: readonly Rule[];
  readonly items: readonly MatchItem[];
}

/** Monitors, and items that contain their terms. */
export function scene(maxRules: number, maxItems: number): fc.Arbitrary<Scene> {
  return fc.array(nastyRule, { minLength: 1, maxLength: maxRules }).chain((rules) =>
    fc.record({
      rules: fc.constant(rules),
      items: fc.array(itemAround(rules), { minLength: 1, maxLength: maxItems }),
    }),
  );
}
