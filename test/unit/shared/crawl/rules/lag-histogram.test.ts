import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LagHistogram } from '../../../../../shared/crawl/rules/coverage.ts';
import {
  LAG_GAMMA,
  SHORTEST_LAG_SECONDS,
  lagQuantiles,
  mergeLags,
} from '../../../../../shared/crawl/rules/coverage.ts';

const LEVELS = [0, 0.5, 0.95, 0.99, 1];

/** As the statement of shared/crawl/archived-hours.ts counts them. */
function histogramOf(lags: readonly number[]): LagHistogram {
  const counts: Record<string, number> = {};
  for (const lag of lags) {
    const bucket = Math.ceil(Math.log(Math.max(lag, SHORTEST_LAG_SECONDS)) / Math.log(LAG_GAMMA));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

const lag = fc.double({ min: SHORTEST_LAG_SECONDS, max: 1e7, noNaN: true });

test('quantiles of merged histograms are within 2 % of exact ones', () => {
  fc.assert(
    fc.property(fc.array(fc.array(lag), { minLength: 1 }), (hours) => {
      const sorted = hours.flat().sort((a, b) => a - b);
      const quantiles = lagQuantiles(mergeLags(hours.map(histogramOf)), LEVELS);
      if (sorted.length === 0) {
        expect(quantiles).toBeUndefined();
        return;
      }
      for (const [index, level] of LEVELS.entries()) {
        const exact = sorted[Math.floor(level * (sorted.length - 1))]!;
        expect(Math.abs(quantiles![index]! - exact)).toBeLessThanOrEqual(0.0201 * exact);
      }
    }),
  );
});
