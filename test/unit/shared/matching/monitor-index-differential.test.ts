import AhoCorasick from 'ahocorasick';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FoldedText } from '../../../../shared/matching/text/folded-text.ts';
import { matchOne } from '../../../../shared/matching/match-one.ts';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, MatchPosition, Rule } from '../../../../shared/matching/rule.ts';
import { nastyTerm, nastyText, scene, textAround } from '../../../support/samples/matching-arbitraries.ts';
import { fold } from '../../../support/oracles/reference-fold.ts';
import { referenceMatch, referenceSearch, referenceTerm } from '../../../support/oracles/reference-matcher.ts';

const folded = new FoldedText();

/** The index joins runs of whitespace only when it cuts the text into words. */
function foldedBy(text: string): string {
  folded.fold(text);
  return folded.toString().replace(/ {2,}/g, ' ');
}

const watch = (keywords: readonly string[]): Rule => ({
  keywords,
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: true,
});
const comment = (text: string): MatchItem => ({ kind: 'comment', title: '', text, subreddit: 'a', nsfw: false });

/**
 * The original text of a match, folded alone, is the term. Characters that were composed cannot be separated: marks
 * (also vowels of Hangul) after a term are included, and a term that begins with a mark includes the character before
 * the mark.
 */
function coversTerm(term: string, slice: string): boolean {
  const expected = Array.from(referenceTerm(term));
  const found = Array.from(fold(slice));
  const isMark = (character = ''): boolean => /[\p{M}\u1160-\u11ff]/u.test(character);
  const same = (one: string, other: string | undefined): boolean => one === other || (one === ' ' && other === '-');
  return found.slice(0, isMark(expected[0]) ? found.length : 1).some((_, skipped) => {
    const covered = found.slice(skipped);
    return (
      expected.every((one, position) => same(one, covered[position])) &&
      covered.slice(expected.length).every((character) => isMark(character))
    );
  });
}

function checkPosition(item: MatchItem, term: string, { field, start, end }: MatchPosition): void {
  const text = item[field === 'text' ? 'text' : 'title'];
  expect(start).toBeGreaterThanOrEqual(0);
  expect(end).toBeGreaterThan(start);
  expect(end).toBeLessThanOrEqual(text.length);
  const slice = text.slice(start, end);
  if (!coversTerm(term, slice)) expect.fail(`${JSON.stringify(term)} is not at ${JSON.stringify(slice)}`);
}

describe('against a regular expression per term', () => {
  test('every monitor of an index matches like its rule alone', () => {
    let runs = 0;
    let matching = 0;
    fc.assert(
      fc.property(scene(12, 3), ({ rules, items }) => {
        const index = new MonitorIndex<number>();
        rules.forEach((rule, number) => {
          index.set(String(number), rule, number);
        });
        for (const item of items) {
          const expected = rules.map((rule) => referenceMatch(rule, item));
          const actual: (string[] | undefined)[] = rules.map(() => undefined);
          const ids: string[] = [];
          for (const { monitorId, matchedTerms, positions, payload } of index.match(item)) {
            expect(String(payload)).toBe(monitorId);
            expect(actual[payload]).toBeUndefined();
            actual[payload] = matchedTerms;
            ids.push(monitorId);
            expect(positions).toHaveLength(matchedTerms.length);
          }
          expect(actual).toEqual(expected);
          const visited: string[] = [];
          index.forEachMatch(item, (monitorId, payload) => {
            expect(String(payload)).toBe(monitorId);
            visited.push(monitorId);
          });
          expect(visited).toEqual(ids);
          runs++;
          if (ids.length > 0) matching++;
        }
      }),
      { numRuns: 1500 },
    );
    expect(matching).toBeGreaterThan(runs / 3);
    expect(matching).toBeLessThan(runs);
  });

  test('one term that is inserted into texts, whole and in pieces', () => {
    let matching = 0;
    const termAndText = nastyTerm.chain((term) => fc.tuple(fc.constant(term), textAround([term], 8)));
    fc.assert(
      fc.property(termAndText, ([term, text]) => {
        const expected = referenceSearch(term)(fold(text));
        if (expected) matching++;
        expect(matchOne(watch([term]), comment(text))).toEqual(expected ? [term] : undefined);
      }),
      { numRuns: 6000 },
    );
    expect(matching).toBeGreaterThan(1500);
  });
});

const CHANGED_BY_NEIGHBOURS = [
  ...[
    'ก',
    'ข',
    'ั',
    '\u200b',
    '\u200b',
    '\u200d',
    '&#x200B;',
    '👍',
    '🏽',
    '☝',
    '\ufe0f',
    'e',
    '\u0301',
    '\u0323',
    '&#769;',
  ],
  ...['ｶ', 'ﾞ', '\u1112', '\u1161', '\u11ab', 'H', '\u0331', '\\', '_', '&', 'a', ' ', '🦀'],
];

describe('the folded text', () => {
  const texts = fc.oneof(
    nastyText(40),
    // Long plain stretches, so that both ways of folding alternate.
    fc
      .array(fc.oneof(nastyText(4), fc.constantFrom('abcab ', 'B', 'a s', '手机 ')), { maxLength: 20 })
      .map((parts) => parts.join('')),
    // Few characters, each of which changes a neighbour.
    fc.array(fc.constantFrom(...CHANGED_BY_NEIGHBOURS), { maxLength: 10 }).map((parts) => parts.join('')),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  );

  test('equals that of the reference', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(foldedBy(text)).toBe(fold(text));
      }),
      { numRuns: 6000 },
    );
  });

  test('maps each unit to its original position', () => {
    fc.assert(
      fc.property(texts, (text) => {
        folded.fold(text);
        let start = 0;
        let end = 0;
        for (let unit = 0; unit < folded.length; unit++) {
          expect(folded.originalStart(unit)).toBeGreaterThanOrEqual(start);
          expect(folded.originalEnd(unit)).toBeGreaterThanOrEqual(end);
          start = folded.originalStart(unit);
          end = folded.originalEnd(unit);
          expect(end).toBeGreaterThan(start);
        }
        expect(end).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('positions', () => {
  test('cover the term in the first text that contains it', () => {
    let covered = 0;
    fc.assert(
      fc.property(scene(6, 2), ({ rules, items }) => {
        const index = new MonitorIndex();
        rules.forEach((rule, number) => {
          index.set(String(number), rule);
        });
        for (const item of items) {
          for (const { matchedTerms, positions } of index.match(item)) {
            matchedTerms.forEach((term, termIndex) => {
              const position = positions[termIndex] ?? { field: 'text', start: -1, end: -1 };
              checkPosition(item, term, position);
              const isInTitle = item.kind === 'post' && referenceSearch(term)(fold(item.title));
              expect(position.field).toBe(isInTitle ? 'title' : 'text');
              covered++;
            });
          }
        }
      }),
      { numRuns: 1500 },
    );
    expect(covered).toBeGreaterThan(1000);
  });

  test('are those of the first occurrence, whatever follows it', () => {
    let matching = 0;
    const termAndTexts = nastyTerm.chain((term) =>
      fc.tuple(fc.constant(term), textAround([term], 5), textAround([term], 5)),
    );
    const positionIn = (term: string, text: string): MatchPosition | undefined => {
      const index = new MonitorIndex();
      index.set('one', watch([term]));
      return index.match(comment(text))[0]?.positions[0];
    };
    fc.assert(
      fc.property(termAndTexts, ([term, before, after]) => {
        const first = positionIn(term, `${before} . `);
        if (first === undefined || first.end > before.length) return;
        matching++;
        expect(positionIn(term, `${before} . ${after}`)).toEqual(first);
      }),
      { numRuns: 3000 },
    );
    expect(matching).toBeGreaterThan(500);
  });

  test.each([
    ['rust', 'in Rust, rust', 3, 7],
    ['rust', '𝗿𝘂𝘀𝘁, rust', 0, 8],
    ['rust', 'ru\u00adst', 0, 5],
    ['rust', '\u200brust\u200b', 1, 5],
    ['rust', "rust's", 0, 4],
    ['rust', '&lt;rust&gt;', 4, 8],
    ['a&b', 'x a&amp;b y', 2, 9],
    ['café', 'un cafe\u0301.', 3, 8],
    ['new york', 'in new \n york', 3, 13],
    ['new york', 'new; new-york', 5, 13],
    ['手机', 'x手\u200b机', 1, 4],
    ['fi', 'a ﬁ b', 2, 3],
    ['c++', 'c# \\*c++ d', 5, 8],
    ['c++ dev', 'c++, c++-dev', 5, 12],
    ['𐐨𐐨', 'a 𐐀𐐨 b', 2, 6],
    ['🦀', 'rust🦀', 4, 6],
    ['👍', 'a 👍🏽👍', 2, 4],
    ['ガ', 'ｱｶﾞ', 1, 3],
    ['+', '\u0301a+b', 2, 3],
    // Compatibility characters that NFC replaces by others: their neighbours do not belong to them.
    ['rust', 'rust\u037e', 0, 4],
    ['手', '手\uf900', 0, 1],
    ['\u8c48', '手\uf900', 1, 2],
  ])('%s in %j', (term, text, start, end) => {
    const index = new MonitorIndex();
    index.set('one', watch([term]));
    expect(index.match(comment(text))[0]?.positions).toEqual([{ field: 'text', start, end }]);
  });
});

describe('against ahocorasick', () => {
  test('finds the same lower-case words and phrases that are whole words', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1'), minLength: 1, maxLength: 3 });
    const term = fc.array(letters, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));
    const joint = fc.constantFrom('', ' ', ' ', ' ', '. ', ',', '(', '!', '/');
    let matching = 0;
    const termsAndText = fc
      .uniqueArray(term, { minLength: 1, maxLength: 15 })
      .chain((terms) =>
        fc.tuple(
          fc.constant(terms),
          fc.array(fc.tuple(fc.oneof(fc.constantFrom(...terms), letters), joint), { maxLength: 20 }),
        ),
      );
    fc.assert(
      fc.property(termsAndText, ([terms, parts]) => {
        const text = parts.flat().join('');
        const expected = new Set<string>();
        for (const [end, found] of new AhoCorasick(terms).search(text)) {
          for (const keyword of found) {
            const around = (text[end - keyword.length] ?? ' ') + (text[end + 1] ?? ' ');
            if (!/[a-z0-9]/.test(around)) expected.add(keyword);
          }
        }
        const index = new MonitorIndex();
        for (const keyword of terms) index.set(keyword, watch([keyword]));
        const found = index.match(comment(text)).map(({ monitorId }) => monitorId);
        expect(new Set(found)).toEqual(expected);
        expect(found).toHaveLength(expected.size);
        matching += expected.size;
      }),
      { numRuns: 1500 },
    );
    expect(matching).toBeGreaterThan(1500);
  });
});
