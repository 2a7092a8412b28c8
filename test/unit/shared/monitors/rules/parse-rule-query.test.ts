import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  describeRefusal,
  MAX_QUERY_LENGTH,
  parseRuleQuery,
} from '../../../../../shared/monitors/rules/parse-rule-query.ts';
import { READABLE, REFUSED } from './parse-rule-query.cases.ts';

const NOTHING = {
  keywords: [],
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: false,
  threadOnce: false,
};

function refusalOf(query: string) {
  const parsed = parseRuleQuery(query);
  return 'refusal' in parsed ? parsed.refusal : undefined;
}

describe('parseRuleQuery', () => {
  test.each(READABLE)('reads %j', (query, settings) => {
    expect(parseRuleQuery(query)).toHaveProperty('settings', { ...NOTHING, ...settings });
  });

  test.each(REFUSED)('refuses %j', (marked, message) => {
    const refusal = refusalOf(marked.replace('«', ''));
    expect(refusal?.message).toContain(message);
    expect(refusal?.position).toBe(marked.indexOf('«'));
  });

  test('tells where each part stands', () => {
    const query = '(rust OR hir* OR go) AND (a OR =b) AND c -x sub:s,t author:-u lang:en in:body';
    const parsed = parseRuleQuery(query);
    if ('refusal' in parsed) throw new Error(parsed.refusal.message);
    const at = (field: string) => query.slice(parsed.positionOf(field)).split(/[ ,)]/)[0];
    expect(['keywords[0]', 'keywords[1]', 'terms[0]', 'terms[0].text'].map(at)).toEqual(['rust', 'go', 'hir*', 'hir*']);
    expect(['require[0][0]', 'require[0][1].text', 'require[1][0]'].map(at)).toEqual(['a', '=b', 'c']);
    expect(['exclude[0]', 'subreddits[0]', 'subreddits[1]'].map(at)).toEqual(['-x', 's', 't']);
    expect(['exclude_authors[0]', 'languages[0]', 'match_in[0]'].map(at)).toEqual(['-u', 'en', 'body']);
    expect(['keywords', 'require', 'require[0]', 'subreddits'].map(at)).toEqual(['go', 'c', '=b', 't']);
    expect(parsed.positionOf('authors[0]')).toBe(query.length);
    expect(parsed.positionOf('')).toBe(query.length);
  });

  test('refuses a query that is longer than any rule', () => {
    const term = `"${'x'.repeat(MAX_QUERY_LENGTH - 2)}"`;
    expect(refusalOf(term)).toBeUndefined();
    expect(refusalOf(`${term} `)?.position).toBe(MAX_QUERY_LENGTH);
  });

  const PARTS = fc.constantFrom(
    ...['rust', 'a', ' ', ' ', ' OR ', ' AND ', ' NOT ', '(', ')', '"', '“', '”', '-', '=', '*', ':', ',', ';', '\\'],
    ...['title:', 'post_title,', 'sub:', 'author:', 'lang:', 'is:', 'post', 'nsfw:', 'yes', 'once:', 'in:', 'tilte:'],
    ...['\n', '\u3000', '咖', '🦀', '\ud800', '\0', '_', '–'],
  );
  const anyQuery = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(PARTS, { maxLength: 25 }).map((parts) => parts.join('')),
  );

  test('never throws, and points into the query or at its end', () => {
    fc.assert(
      fc.property(anyQuery, (query) => {
        const refusal = refusalOf(query);
        if (refusal === undefined) return;
        expect(refusal.position).toBeGreaterThanOrEqual(0);
        expect(refusal.position).toBeLessThanOrEqual(query.length);
        expect(refusal.message).toMatch(/^\P{C}+$/u);
        expect(describeRefusal(query, refusal).split('\n')).toHaveLength(3);
      }),
      { numRuns: 1_500 },
    );
  });
});

describe('describeRefusal', () => {
  const describeAt = (query: string, position: number) =>
    describeRefusal(query, { position, message: 'wrong' }).split('\n');

  test.each([
    ['rust go', 5, 'rust go', '     ^'],
    ['rust', 4, 'rust', '    ^'],
    ['a\nbc d\ne', 5, 'bc d', '   ^'],
    ['a\r\nb', 3, 'b', '^'],
    ['a\tb c', 4, 'a b c', '    ^'],
    ['咖啡 x', 3, '咖啡 x', '\u3000\u3000 ^'],
    ['🦀 x', 3, '🦀 x', '\u3000 ^'],
    [`${'a'.repeat(70)}x${'b'.repeat(70)}`, 70, `…${'a'.repeat(60)}x${'b'.repeat(59)}…`, `${' '.repeat(61)}^`],
    [`${'a'.repeat(61)}x`, 61, `…${'a'.repeat(60)}x`, `${' '.repeat(61)}^`],
    [`${'a'.repeat(70)}\n${'b'.repeat(5)}x`, 76, 'bbbbbx', `${' '.repeat(5)}^`],
    [`x${'b'.repeat(60)}`, 0, `x${'b'.repeat(59)}…`, '^'],
  ])('points into %j at %i', (query, position, line, caret) => {
    expect(describeAt(query, position)).toEqual(['wrong', line, caret]);
  });
});
