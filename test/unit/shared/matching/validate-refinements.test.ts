import { describe, expect, test } from 'vitest';
import {
  authorKey,
  normalizeAuthor,
  validateAuthors,
  validateLanguages,
  validateRequire,
  validateRuleTerms,
  validateSearchedTexts,
  validateTermCount,
} from '../../../../shared/matching/validate-refinements.ts';

const LENGTH = 'must have 2 to 100 characters, not counting spaces around it';
const NOTHING = 'has nothing to search for: it consists only of spaces, quotes, underscores or invisible characters';
const ONE_WORD =
  'must be one word with at least 3 letters, in a script with spaces between words, to be searched as a prefix';
const TEXTS = 'must be one of title, body, post_title';
const words = (count: number): string[] => Array.from({ length: count }, (_, number) => `word${number}`);

describe('terms', () => {
  test.each([
    ['nothing but a text', [{ text: ' rust ' }], [{ text: 'rust' }]],
    ['members that say nothing', [{ text: 'rust', prefix: false, caseSensitive: false, in: [] }], [{ text: 'rust' }]],
    [
      'all members',
      [{ text: 'Hir', prefix: true, caseSensitive: true, in: ['body', 'title'] }],
      [{ text: 'Hir', prefix: true, caseSensitive: true, in: ['title', 'body'] }],
    ],
    ['each text once', [{ text: 'rust', in: ['body', 'body'] }], [{ text: 'rust', in: ['body'] }]],
    ['equal after folding', [{ text: 'Rust' }, { text: 'RUST' }, { text: '"rust"' }], [{ text: 'Rust' }]],
    [
      'another prefix, case or text is another term',
      [
        { text: 'rust' },
        { text: 'rust', prefix: true },
        { text: 'rust', caseSensitive: true },
        { text: 'Rust', caseSensitive: true },
        { text: 'rust', in: ['title'] },
        { text: 'RUST', in: ['title'] },
        { text: 'RUST', prefix: true },
      ],
      [
        { text: 'rust' },
        { text: 'rust', prefix: true },
        { text: 'rust', caseSensitive: true },
        { text: 'Rust', caseSensitive: true },
        { text: 'rust', in: ['title'] },
      ],
    ],
    [
      'case only where something has it',
      [
        { text: '✓✓' },
        { text: '✓✓', caseSensitive: true },
        { text: '咖啡' },
        { text: '咖啡', caseSensitive: true },
        { text: 'ⓐⓑ' },
        { text: 'ⓐⓑ', caseSensitive: true },
      ],
      [{ text: '✓✓' }, { text: '咖啡' }, { text: 'ⓐⓑ' }, { text: 'ⓐⓑ', caseSensitive: true }],
    ],
    [
      'prefixes of one word',
      [
        { text: 'don’t', prefix: true },
        { text: 'rust_l', prefix: true },
        { text: 'web3', prefix: true },
        { text: 'жар', prefix: true },
      ],
      [
        { text: 'don’t', prefix: true },
        { text: 'rust_l', prefix: true },
        { text: 'web3', prefix: true },
        { text: 'жар', prefix: true },
      ],
    ],
  ])('%s', (_, given, kept) => {
    expect(validateRuleTerms(given)).toEqual({ terms: kept, faults: [] });
  });

  test.each([
    ['too short', { text: ' x ' }, 'terms[1].text', LENGTH],
    ['too long', { text: 'x'.repeat(101) }, 'terms[1].text', LENGTH],
    ['nothing', { text: '“”' }, 'terms[1].text', NOTHING],
    ['two letters', { text: 'go', prefix: true }, 'terms[1].text', ONE_WORD],
    ['two letters and digits', { text: 'go12', prefix: true }, 'terms[1].text', ONE_WORD],
    ['two letters as entities', { text: '&#x67;&#x6f;', prefix: true }, 'terms[1].text', ONE_WORD],
    ['two words', { text: 'new york', prefix: true }, 'terms[1].text', ONE_WORD],
    ['an asterisk', { text: 'hiring*', prefix: true }, 'terms[1].text', ONE_WORD],
    ['a hyphen', { text: 'e-mail', prefix: true }, 'terms[1].text', ONE_WORD],
    ['a possessive', { text: "wendy's", prefix: true }, 'terms[1].text', ONE_WORD],
    ['a script without spaces', { text: '한국어', prefix: true }, 'terms[1].text', ONE_WORD],
    ['an unknown text', { text: 'rust', in: ['title', 'url'] }, 'terms[1].in[1]', TEXTS],
  ])('%s', (_, term, field, message) => {
    expect(validateRuleTerms([{ text: 'go' }, term])).toEqual({
      terms: [{ text: 'go' }],
      faults: [{ field, message }],
    });
  });

  test('all faults of a term together, and not more terms than allowed', () => {
    expect(validateRuleTerms([{ text: 'x', in: ['url'] }]).faults.map(({ field }) => field)).toEqual([
      'terms[0].text',
      'terms[0].in[0]',
    ]);
    expect(validateRuleTerms(words(20).map((text) => ({ text }))).faults).toEqual([]);
    expect(validateRuleTerms(words(21).map((text) => ({ text }))).faults).toEqual([
      { field: 'terms', message: 'must have at most 20 terms' },
    ]);
  });

  test('are counted together with the keywords', () => {
    expect(validateTermCount([], [])).toEqual([
      { field: 'keywords', message: 'must have at least one term, or "terms" must' },
    ]);
    expect(validateTermCount(words(1), [])).toEqual([]);
    expect(validateTermCount([], words(1))).toEqual([]);
    expect(validateTermCount(words(10), words(10))).toEqual([]);
    expect(validateTermCount(words(10), words(11))).toEqual([
      { field: 'terms', message: 'must have at most 20 terms together with keywords' },
    ]);
  });
});

describe('groups of required terms', () => {
  test('hold strings and objects, equal ones once within a group', () => {
    const hiring = { text: 'hir', prefix: true, caseSensitive: undefined, in: undefined };
    expect(validateRequire([[' job ', 'JOB', { text: 'job' }, hiring, hiring], ['job']])).toEqual({
      require: [['job', { text: 'hir', prefix: true }], ['job']],
      faults: [],
    });
    expect(validateRequire([])).toEqual({ require: [], faults: [] });
  });

  test('faults name the group, the member and its text', () => {
    const group = ['job', 'x', { text: 'x' }, { text: 'rust', in: ['x'] }];
    expect(validateRequire([['go'], group, [], words(21), words(20)]).faults).toEqual([
      { field: 'require[1][1]', message: LENGTH },
      { field: 'require[1][2].text', message: LENGTH },
      { field: 'require[1][3].in[0]', message: TEXTS },
      { field: 'require[2]', message: 'must have at least one term' },
      { field: 'require[3]', message: 'must have at most 20 terms' },
    ]);
    expect(validateRequire(Array.from({ length: 6 }, () => ['job'])).faults).toEqual([
      { field: 'require', message: 'must have at most 5 groups' },
    ]);
  });
});

describe('searched texts', () => {
  test('are in one order, each once, and absent when the list is empty', () => {
    expect(validateSearchedTexts('match_in', ['post_title', 'title', 'title']).texts).toEqual(['title', 'post_title']);
    expect(validateSearchedTexts('match_in', [])).toEqual({ texts: undefined, faults: [] });
    expect(validateSearchedTexts('match_in', ['Title', 'body']).faults).toEqual([
      { field: 'match_in[0]', message: TEXTS },
    ]);
  });
});

describe('names of accounts', () => {
  test.each([
    ['AutoModerator', 'AutoModerator'],
    ['u/some-body', 'some-body'],
    ['/u/Some_Body', 'Some_Body'],
    [' U/x ', 'x'],
    ['/user/x', 'x'],
    ['a'.repeat(20), 'a'.repeat(20)],
  ])('%j is %j', (written, name) => {
    expect(normalizeAuthor(written)).toBe(name);
  });

  test.each(['', 'u/', '[deleted]', 'u/[deleted]', 'a'.repeat(21), 'a b', 'u/u/a', 'ä', 'a/'])(
    '%j is malformed',
    (written) => {
      expect(normalizeAuthor(written)).toBeUndefined();
    },
  );

  test('are compared without prefix and case, and listed once', () => {
    expect(new Set(['u/Rust', '/u/rust', 'RUST', ' rust'].map(authorKey))).toEqual(new Set(['rust']));
    expect(validateAuthors('authors', ['u/One', 'ONE', 'two'])).toEqual({ names: ['One', 'two'], faults: [] });
  });

  test('faults name the list and the position', () => {
    expect(validateAuthors('exclude_authors', ['one', '[deleted]']).faults).toEqual([
      { field: 'exclude_authors[1]', message: 'must be the name of an account, with or without u/' },
    ]);
    expect(validateAuthors('authors', words(50)).faults).toEqual([]);
    expect(validateAuthors('authors', words(51)).faults).toEqual([
      { field: 'authors', message: 'must have at most 50 names' },
    ]);
  });
});

test('languages are known codes, each once', () => {
  const known = new Set(['en', 'de', 'und']);
  expect(validateLanguages(['de', 'und', 'de'], known)).toEqual({ languages: ['de', 'und'], faults: [] });
  expect(validateLanguages(['en', 'EN'], known).faults).toEqual([
    {
      field: 'languages[1]',
      message: 'must be a known ISO 639-1 code in lower case, or "und" for texts whose language is not decided',
    },
  ]);
  expect(validateLanguages(Array<string>(51).fill('en'), known).faults[0]?.field).toBe('languages');
});
