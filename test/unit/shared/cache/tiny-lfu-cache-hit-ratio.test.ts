import { describe, expect, test } from 'vitest';
import { TinyLfuCache } from '../../../../shared/cache/tiny-lfu-cache.ts';
import type { Access } from '../../../support/samples/cache-traces.ts';
import { PlainLru, hitRatio, seededRandom, withScans, zipfTrace } from '../../../support/samples/cache-traces.ts';

const KEYS = 10_000;
const ACCESSES = 100_000;
/** From 200 to 20,200 bytes, independent of popularity. */
const variedBytes = (n: number) => 200 + (((n * 2_654_435_761) >>> 0) % 20_000);
const equalBytes = () => 1000;

function bytesOfAll(bytesOf: (n: number) => number): number {
  let sum = 0;
  for (let n = 0; n < KEYS; n += 1) sum += bytesOf(n);
  return sum;
}

/** Only accesses to popular keys count, because a key that is requested once can never be a hit. */
function compare(trace: Access[], maxBytes: number) {
  const isPopular = (access: Access) => access.key.startsWith('post/');
  return {
    tinyLfu: hitRatio(new TinyLfuCache({ maxBytes, random: seededRandom(3) }), trace, isPopular),
    lru: hitRatio(new PlainLru(maxBytes), trace, isPopular),
  };
}

const table = [0.9, 1].flatMap((s) =>
  [0.01, 0.05, 0.2].flatMap((share) =>
    [equalBytes, variedBytes].map((bytesOf) => ({ s, share, sizes: bytesOf.name, bytesOf })),
  ),
);

describe('hits compared with plain LRU of the same bytes', () => {
  test.each(table)('Zipf $s, cache of $share of all bytes, $sizes: more hits', ({ s, share, bytesOf }) => {
    const trace = zipfTrace({ seed: 7, accesses: ACCESSES, keys: KEYS, s, bytesOf });
    const { tinyLfu, lru } = compare(trace, Math.floor(share * bytesOfAll(bytesOf)));
    expect(tinyLfu).toBeGreaterThan(lru + 0.02);
  });

  test.each(table)(
    'Zipf $s with scans, cache of $share of all bytes, $sizes: clearly more',
    ({ s, share, bytesOf }) => {
      const popular = zipfTrace({ seed: 7, accesses: ACCESSES, keys: KEYS, s, bytesOf });
      const trace = withScans(popular, { every: 2000, length: 2000, bytes: 2 * bytesOf(1) });
      const maxBytes = Math.floor(share * bytesOfAll(bytesOf));
      const { tinyLfu, lru } = compare(trace, maxBytes);
      expect(tinyLfu).toBeGreaterThan(lru + 0.08);
      // The scans cost almost no hits.
      expect(tinyLfu).toBeGreaterThan(compare(popular, maxBytes).tinyLfu - 0.04);
    },
  );

  test('keys that become popular replace the old ones', () => {
    const trace = zipfTrace({ seed: 11, accesses: ACCESSES, keys: KEYS, s: 1 });
    const cache = new TinyLfuCache<number>({ maxBytes: KEYS * 5, random: seededRandom(3) });
    const before = hitRatio(cache, trace);
    const others = trace.map((access) => ({ ...access, key: `other/${access.key}` }));
    hitRatio(cache, others.slice(0, ACCESSES / 2));
    expect(hitRatio(cache, others.slice(ACCESSES / 2))).toBeGreaterThan(before);
  });
});
