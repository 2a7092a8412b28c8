import { expect, test } from 'vitest';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import { referenceMatch } from '../../../support/oracles/reference-matcher.ts';
import { randomItems, randomRules } from '../../../support/samples/random-rules.ts';

test('300 rules with conditions match 2,000 items as regular expressions say', { timeout: 120_000 }, () => {
  const rules = randomRules(300, 19);
  const index = new MonitorIndex<number>();
  rules.forEach((rule, number) => {
    index.set(String(number), rule, number);
  });
  let matches = 0;
  for (const item of randomItems(2000, 20)) {
    const expected = rules.flatMap((rule, number) => {
      const matchedTerms = referenceMatch(rule, item);
      return matchedTerms === undefined ? [] : [[number, matchedTerms]];
    });
    const found = index.match(item).sort((one, other) => one.payload - other.payload);
    expect(found.map(({ payload, matchedTerms }) => [payload, matchedTerms])).toEqual(expected);
    matches += expected.length;
  }
  expect(matches).toBeGreaterThan(5000);
});
