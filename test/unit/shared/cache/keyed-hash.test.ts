import { describe, expect, test } from 'vitest';
import { KeyedHash } from '../../../../shared/cache/keyed-hash.ts';
import { seededRandom } from '../../../support/samples/cache-traces.ts';

describe('KeyedHash', () => {
  const hashed = (seed: number, key: string) => {
    const hash = new KeyedHash(seededRandom(seed));
    hash.update(key);
    return [hash.low, hash.high];
  };

  test('depends on the key, its length, each half of its characters, and the seed', () => {
    const keys = [
      '',
      '\0',
      '\0\0',
      'a',
      'a\0',
      'ab',
      'ba',
      'abc',
      'abd',
      'ab\u0163',
      'post/abc',
      'post/abd',
      'Post/abc',
    ];
    const all = [1, 2].flatMap((seed) => keys.map((key) => hashed(seed, key)));
    expect(new Set(all.map(([low]) => low)).size).toBe(all.length);
    expect(new Set(all.map(([, high]) => high)).size).toBe(all.length);
    expect(hashed(1, 'post/abc')).toEqual(hashed(1, 'post/abc'));
  });

  test('keys that collide under one seed rarely collide under another', () => {
    const first = new KeyedHash(seededRandom(1));
    const second = new KeyedHash(seededRandom(2));
    const byBucket = new Map<number, string>();
    let pairs = 0;
    let both = 0;
    for (let n = 0; n < 20_000; n += 1) {
      const key = `post/${n}`;
      first.update(key);
      const other = byBucket.get(first.low & 0xffff);
      if (other === undefined) {
        byBucket.set(first.low & 0xffff, key);
        continue;
      }
      pairs += 1;
      second.update(key);
      const bucket = second.low & 0xffff;
      second.update(other);
      if (bucket === (second.low & 0xffff)) both += 1;
    }
    expect(pairs).toBeGreaterThan(2000);
    expect(both).toBeLessThan(5);
  });

  test('spreads keys that differ in one digit evenly', () => {
    const hash = new KeyedHash(seededRandom(4));
    const buckets = { low: new Array<number>(64).fill(0), high: new Array<number>(64).fill(0) };
    for (let n = 0; n < 64_000; n += 1) {
      hash.update(`listing/r/sub/new?after=t3_${n}`);
      buckets.low[hash.low & 63]! += 1;
      buckets.high[hash.high & 63]! += 1;
    }
    // 1,000 each, standard deviation 32.
    for (const count of [...buckets.low, ...buckets.high]) expect(Math.abs(count - 1000)).toBeLessThan(160);
  });
});
