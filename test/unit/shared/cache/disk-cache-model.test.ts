import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encodeEntry, occupiedBytes } from '../../../../shared/cache/disk-entry.ts';
import { CacheFolder } from '../../../support/fixtures/cache-folder.ts';

let files: CacheFolder;
beforeEach(() => {
  files = new CacheFolder();
});
afterEach(() => files.remove());

const HOUR = 3_600_000;
const bytesFor = (length: number) =>
  occupiedBytes(encodeEntry({ value: Buffer.alloc(length), storedAtMs: 0, expiresAtMs: 0 }).length);

type Command =
  | { do: 'set'; key: number; length: number; forMs: number }
  | { do: 'delete' | 'get'; key: number }
  | { do: 'wait'; ms: number }
  | { do: 'flush' };

const key = fc.nat(12);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      key,
      length: fc.oneof(fc.nat(100), fc.nat(9000)),
      forMs: fc.nat(50),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('get' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.constant({ do: 'flush' as const }) },
);

describe('against a model', () => {
  test('never exceeds its bytes, never returns an old, expired or deleted value, and counts its entries exactly', async () => {
    const maxBytes = 40_000;
    const cache = await files.open({ maxBytes });
    const run = (commands: Command[]) => {
      const model = new Map<number, { value: Buffer; expiresAt: number }>();
      for (const [i, step] of commands.entries()) {
        if (step.do === 'set') {
          const value = Buffer.alloc(step.length, i);
          model.set(step.key, { value, expiresAt: files.now + step.forMs });
          cache.set(`k${step.key}`, value, files.now + step.forMs);
        } else if (step.do === 'delete') {
          model.delete(step.key);
          cache.delete(`k${step.key}`);
        } else if (step.do === 'get') {
          const found = cache.get(`k${step.key}`);
          const expected = model.get(step.key);
          if (found) expect(found.value).toEqual(expected?.value);
          if (found) expect(files.now).toBeLessThan(expected?.expiresAt ?? 0);
        } else if (step.do === 'wait') files.now += step.ms;
        else cache.flush();
        expect(cache.bytes).toBeLessThanOrEqual(maxBytes);
      }
      cache.flush();
      const held = [...model].filter(([name, { expiresAt }]) => expiresAt > files.now && cache.get(`k${name}`));
      // A write removes all expired entries, so the counts equal what can be found.
      cache.set('last', Buffer.alloc(0), files.now + HOUR);
      cache.flush();
      const bytes = held.reduce((sum, [, { value }]) => sum + bytesFor(value.length), bytesFor(0));
      if (bytes <= maxBytes) expect([cache.size, cache.bytes]).toEqual([held.length + 1, bytes]);
      for (const name of [...Array.from({ length: 13 }, (_, n) => `k${n}`), 'last']) cache.delete(name);
      cache.flush();
      expect([cache.size, cache.bytes]).toEqual([0, 0]);
    };
    fc.assert(fc.property(fc.array(command, { maxLength: 80 }), run), { numRuns: 150 });
  });
});
