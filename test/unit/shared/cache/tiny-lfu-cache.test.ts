import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyedHash } from '../../../../shared/cache/keyed-hash.ts';
import { TinyLfuCache } from '../../../../shared/cache/tiny-lfu-cache.ts';
import { seededRandom } from '../../../support/samples/seeded-random.ts';

type Command = { do: 'set'; key: string; bytes: number } | { do: 'get' | 'delete'; key: string };

const key = fc.nat(30).map((n) => `k${n}`);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('set' as const), key, bytes: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('get' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
);

/** Runs commands on the cache and on a map that evicts nothing, and checks after each what the cache may return. */
function runAgainstModel(maxBytes: number, commands: Command[], seed: number) {
  const cache = new TinyLfuCache<number>({ maxBytes, random: seededRandom(seed) });
  const model = new Map<string, { value: number; bytes: number }>();
  for (const [value, step] of commands.entries()) {
    if (step.do === 'set') {
      cache.set(step.key, value, step.bytes);
      model.set(step.key, { value, bytes: step.bytes });
    } else if (step.do === 'delete') {
      cache.delete(step.key);
      model.delete(step.key);
      expect(cache.get(step.key)).toBeUndefined();
    } else {
      expect([undefined, model.get(step.key)?.value]).toContain(cache.get(step.key));
    }
    expect(cache.bytes).toBeLessThanOrEqual(maxBytes);
  }
  return { cache, model };
}

describe('against a model', () => {
  test('never exceeds its bytes, never returns an old or deleted value, and counts its entries exactly', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 400 }),
        fc.array(command, { maxLength: 300 }),
        fc.integer(),
        (maxBytes, commands, seed) => {
          const { cache, model } = runAgainstModel(maxBytes, commands, seed);
          const held = [...model].filter(([name]) => cache.get(name) !== undefined);
          expect(cache.size).toBe(held.length);
          expect(cache.bytes).toBe(held.reduce((sum, [, entry]) => sum + entry.bytes, 0));
          for (const [name, entry] of held) expect(cache.get(name)).toBe(entry.value);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('admission', () => {
  test('keeps the entry that was requested more often', () => {
    const cache = new TinyLfuCache<string>({ maxBytes: 100, random: seededRandom(2) });
    for (let i = 0; i < 5; i += 1) cache.get('often');
    cache.set('often', 'v', 60);
    cache.get('once');
    cache.set('once', 'v', 60);
    expect([cache.get('often'), cache.get('once')]).toEqual(['v', undefined]);
    for (let i = 0; i < 8; i += 1) cache.get('more often');
    cache.set('more often', 'v', 60);
    expect([cache.get('often'), cache.get('more often')]).toEqual([undefined, 'v']);
  });
});

test('keys that collide under one seed do not under another', () => {
  const [first, second] = [1, 2].map((seed) => new KeyedHash(seededRandom(seed))) as [KeyedHash, KeyedHash];
  const bucketOf = (hash: KeyedHash, name: string) => {
    hash.update(name);
    return hash.low & 0xffff;
  };
  const names = Array.from({ length: 20_000 }, (_, n) => `post/${n}`);
  const buckets = Map.groupBy(names, (name) => bucketOf(first, name));
  const pairs = [...buckets.values()].flatMap(([name, ...others]) => others.map((other) => [name!, other]));
  expect(pairs.length).toBeGreaterThan(2_000);
  expect(pairs.filter(([one, other]) => bucketOf(second, one!) === bucketOf(second, other!)).length).toBeLessThan(5);
});
