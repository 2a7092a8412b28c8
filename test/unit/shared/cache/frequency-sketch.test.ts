import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrequencySketch } from '../../../../shared/cache/frequency-sketch.ts';
import { KeyedHash } from '../../../../shared/cache/keyed-hash.ts';
import { seededRandom } from '../../../support/samples/cache-traces.ts';

class CountedKeys {
  readonly sketch = new FrequencySketch();
  private readonly hash = new KeyedHash(seededRandom(1));

  increment(key: string, times = 1): void {
    this.hash.update(key);
    for (let i = 0; i < times; i += 1) this.sketch.increment(this.hash.low, this.hash.high);
  }

  frequency(key: string): number {
    this.hash.update(key);
    return this.sketch.frequency(this.hash.low, this.hash.high);
  }
}

describe('the sketch', () => {
  test('never estimates below the count, up to 15, before it ages', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { maxLength: 1000 }), fc.nat(3), (accesses, doublings) => {
        const keys = new CountedKeys();
        const counts = new Map<number, number>();
        for (const [i, n] of accesses.entries()) {
          if (i === 500) keys.sketch.ensureCapacity(keys.sketch.capacity * 2 ** doublings);
          keys.increment(`key${n}`);
          counts.set(n, (counts.get(n) ?? 0) + 1);
        }
        for (const [n, count] of counts) expect(keys.frequency(`key${n}`)).toBeGreaterThanOrEqual(Math.min(15, count));
      }),
    );
  });

  test('keeps its counts when it is widened', () => {
    const keys = new CountedKeys();
    const { capacity } = keys.sketch;
    for (let n = 0; n < 100; n += 1) keys.increment(`key${n}`, 9);
    keys.sketch.ensureCapacity(8 * capacity);
    expect(keys.sketch.capacity).toBe(8 * capacity);
    for (let n = 0; n < 100; n += 1) expect(keys.frequency(`key${n}`)).toBeGreaterThanOrEqual(9);
  });

  test('is seldom wrong when it is as full as it may be', () => {
    const keys = new CountedKeys();
    keys.sketch.ensureCapacity(4096);
    expect(keys.sketch.capacity).toBe(4096);
    const count = (n: number) => 1 + (n % 8);
    for (let n = 0; n < 4096; n += 1) keys.increment(`key${n}`, count(n));
    let wrong = 0;
    for (let n = 0; n < 4096; n += 1) if (keys.frequency(`key${n}`) !== count(n)) wrong += 1;
    expect(wrong).toBeLessThan(0.02 * 4096);
  });

  test('halves all counts after ten accesses per entry', () => {
    const keys = new CountedKeys();
    const sample = keys.sketch.capacity * 10;
    keys.increment('favourite', 12);
    keys.increment('other', sample - 13);
    expect([keys.frequency('favourite'), keys.frequency('other')]).toEqual([12, 15]);
    keys.increment('other');
    expect([keys.frequency('favourite'), keys.frequency('other')]).toEqual([6, 7]);
    // Half of the sample is in the halved counts, so the next halving comes after the other half.
    keys.increment('other', sample / 2);
    expect(keys.frequency('favourite')).toBe(3);
  });
});

describe('the hash', () => {
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

  test('keys that collide under one seed do not under another', () => {
    const first = new KeyedHash(seededRandom(1));
    const second = new KeyedHash(seededRandom(2));
    const byPlace = new Map<number, string>();
    let pairs = 0;
    let both = 0;
    for (let n = 0; n < 20_000; n += 1) {
      const key = `post/${n}`;
      first.update(key);
      const other = byPlace.get(first.low & 0xffff);
      if (other === undefined) {
        byPlace.set(first.low & 0xffff, key);
        continue;
      }
      pairs += 1;
      second.update(key);
      const place = second.low & 0xffff;
      second.update(other);
      if (place === (second.low & 0xffff)) both += 1;
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
