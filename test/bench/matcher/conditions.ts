import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import { referenceMatch } from '../../support/oracles/reference-matcher.ts';
import { randomItems, randomRules } from '../../support/samples/random-rules.ts';
import type { Report } from '../main.ts';

const RULES = 2_000;
const ITEMS = 20_000;

/** Random rules with all kinds of conditions against regular expressions; throws at the first difference. */
export function benchConditions(report: Report): void {
  const rules = randomRules(RULES, 119);
  const index = new MonitorIndex<number>();
  rules.forEach((rule, number) => {
    index.set(String(number), rule, number);
  });
  let matches = 0;
  let ms = 0;
  let referenceMs = 0;
  for (const item of randomItems(ITEMS, 120)) {
    const begun = performance.now();
    const found = index.match(item).sort((one, other) => one.payload - other.payload);
    const matched = performance.now();
    const expected = rules.flatMap((rule, number) => {
      const matchedTerms = referenceMatch(rule, item);
      return matchedTerms === undefined ? [] : [{ payload: number, matchedTerms }];
    });
    ms += matched - begun;
    referenceMs += performance.now() - matched;
    const actual = found.map(({ payload, matchedTerms }) => ({ payload, matchedTerms }));
    if (JSON.stringify(actual) !== JSON.stringify(expected)) {
      throw new Error(`${JSON.stringify(item)}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
    }
    matches += expected.length;
  }
  report({
    case: 'conditions',
    rules: RULES,
    items: ITEMS,
    matches,
    differences: 0,
    seconds: Number((ms / 1000).toFixed(2)),
    regexp_seconds: Number((referenceMs / 1000).toFixed(0)),
  });
}
