import { describe, expect, test } from 'vitest';
import { MatchWords, suggest, variantsOf } from '../../../../../shared/monitors/rules/suggest.ts';
import type { ComparedTexts } from '../../../../../shared/monitors/rules/suggest.ts';

const RULE = {
  keywords: ['rust', 'e mail'],
  exclude: ['rust belt'],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: false,
};

/** 100 matches, and 999 items of the stream. */
function compared(
  matches: Record<string, number>,
  stream: Record<string, number>,
  more: Partial<ComparedTexts> = {},
): ComparedTexts {
  return {
    rule: RULE,
    matches: { texts: 100, counts: new Map(Object.entries(matches)) },
    stream: { texts: 999, counts: new Map(Object.entries(stream)), subreddits: new Map([['rust', 9]]) },
    subreddits: new Map(),
    total: 100,
    ...more,
  };
}

const named = (texts: ComparedTexts): string[] => suggest(texts).map(({ kind, value }) => `${kind} ${value}`);

describe('suggest', () => {
  test('a word that stands out in few matches is an exclude, with its counts and lift', () => {
    expect(suggest(compared({ server: 10 }, { server: 4 }))).toEqual([
      expect.objectContaining({
        ...{ kind: 'exclude', value: 'server', matches: 10, matches_compared: 100, stream: 4, stream_compared: 999 },
        lift: 20,
      }),
    ]);
  });

  test.each([
    ['in a fifth of the matches it is a keyword', { cargo: 20 }, { cargo: 1 }, ['keyword cargo']],
    ['but not when the stream has none', { cargo: 20 }, {}, []],
    ['in fewer than five matches it may be chance', { server: 4 }, {}, []],
    ['in fewer than 3 % of many matches neither', { server: 5 }, {}, ['exclude server']],
    ['just below five times as frequent', { server: 10 }, { server: 20 }, []],
    ['just five times as frequent', { server: 10 }, { server: 19 }, ['exclude server']],
    ['the words of the rule are left out', { rust: 90, belt: 10 }, { rust: 2 }, []],
    ['numbers and single characters too', { 2024: 10, x: 10, 手: 10 }, {}, []],
    ['common words of no subject', { by: 10, an: 40, does: 10, place: 10, server: 10 }, { an: 1 }, ['exclude server']],
    ['a word with an elided one, which counts by itself', { "l'ia": 10 }, {}, []],
  ])('%s', (_, matches: Record<string, number>, stream: Record<string, number>, expected) => {
    expect(named(compared(matches, stream))).toEqual(expected);
  });

  test('forms of keywords that occur are variants', () => {
    const stream = { rusts: 2, rusted: 9, email: 40, emails: 3, mail: 9 };
    expect(named(compared({}, stream))).toEqual(['variant email', 'variant rusts']);
  });

  test('communities with a tenth of the matches are named unless the rule names communities', () => {
    const subreddits = new Map([
      ['rust', 50],
      ['small', 4],
      ['few', 9],
      ['other', 10],
    ]);
    const texts = compared({}, {}, { subreddits });
    expect(suggest(texts)).toMatchObject([
      { kind: 'subreddit', value: 'rust', matches: 50, matches_compared: 100, stream: 9, lift: 50 },
      { kind: 'subreddit', value: 'other', matches: 10, stream: 0, lift: 100 },
    ]);
    expect(named({ ...texts, rule: { ...RULE, subreddits: ['rust'] } })).toEqual([]);
  });

  test('few matches or few items of the stream say nothing', () => {
    const texts = compared({ server: 10 }, {});
    expect(named({ ...texts, matches: { ...texts.matches, texts: 19 } })).toEqual([]);
    expect(named({ ...texts, stream: { ...texts.stream, texts: 199 } })).toEqual([]);
  });
});

describe('variantsOf', () => {
  test.each([
    ['grinder', 'grinders', 'in the plural'],
    ['stories', 'story', 'in the singular'],
    ['e-mail', 'email', 'as one word'],
    ['new york', 'newyork', 'as one word'],
    ['espresso', 'expresso', 'with one letter changed'],
    ['espresso', 'espreso', 'with one letter changed'],
    ['espresso', 'expreso', undefined],
    ['rust', 'dust', undefined],
    ['new york', 'york', undefined],
    ['grinder', 'grinder', undefined],
    ['🦀', 'crab', undefined],
  ])('%s, %s: %s', (keyword, word, how) => {
    expect(variantsOf(keyword, [[word, 3]])).toEqual(how === undefined ? [] : [{ word, count: 3, how }]);
  });

  test('a word in one text is an accident, and so is a misspelling in two', () => {
    expect(
      variantsOf('espresso', [
        ['expresso', 2],
        ['espressos', 1],
      ]),
    ).toEqual([]);
    expect(variantsOf('espresso', [['espressos', 2]])).toHaveLength(1);
  });
});

test('a word counts once in a text; the title counts for posts only; at most 1,000 texts', () => {
  const words = new MatchWords();
  words.add({ kind: 'post', title: 'Rust rust', body: 'RUST, now' });
  words.add({ kind: 'comment', title: 'Rust', body: 'now' });
  expect([words.texts, [...words.counts]]).toEqual([
    2,
    [
      ['rust', 1],
      ['now', 2],
    ],
  ]);
  for (let number = 0; number < 1_000; number++) words.add({ kind: 'comment', title: '', body: 'now' });
  expect([words.texts, words.counts.get('now')]).toEqual([1_000, 1_000]);
});
