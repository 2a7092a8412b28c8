import { expect, test } from 'vitest';
import { ClockComparison } from '../../../../services/crawler/clock-comparison.ts';

/** Milliseconds since 1970 at which the monotonic clock showed 0, by a right clock. */
const EPOCH = 1_772_000_000_000;

/**
 * Records that brokers with these errors of their clocks (ms) append at 500, asked for at 400 and acknowledged at 600,
 * and Postgres, whose clock is off by `postgres`, read at 60,000 with an answer that takes `answerMs`.
 */
async function skewOf(errors: number[], { postgres = 0, answerMs = 4 } = {}): Promise<(number | undefined)[]> {
  let now = 0;
  const comparison = new ClockComparison(() => now);
  for (const error of errors) {
    comparison.add({ appendedAt: EPOCH + 500 + error, notBefore: 400, notAfter: 600 });
  }
  const read = async () => {
    const time = EPOCH + now + answerMs / 2 + postgres;
    now += answerMs;
    return time * 1_000;
  };
  now = 60_000;
  return [await comparison.compare(read), await comparison.compare(read)];
}

test.each<[string, number[], { postgres?: number; answerMs?: number }, number | undefined]>([
  ['no record', [], {}, undefined],
  ['clocks that agree, within what acknowledgements take', [0, 90, -90], {}, 0],
  ['a broker that is ahead', [0, 2_000, -700], {}, 1_898],
  ['a broker that is behind', [0, -2_000, 700], {}, -1_897],
  ['Postgres ahead of all brokers', [0, 0], { postgres: 3_000 }, -2_897],
  ['a slow answer of Postgres, which proves nothing', [0], { answerMs: 8_000 }, 0],
])('%s', async (_, errors, options, expected) => {
  expect(await skewOf(errors, options), 'each record is compared once').toEqual([expected, undefined]);
});
