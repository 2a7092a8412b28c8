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

describe('FrequencySketch', () => {
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

  test('is rarely wrong at full capacity', () => {
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
