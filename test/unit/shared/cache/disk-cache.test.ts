import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DiskCache } from '../../../../shared/cache/disk-cache.ts';
import { encodeEntry, occupiedBytes } from '../../../../shared/cache/disk-entry.ts';
import { CacheFolder } from '../../../support/fixtures/cache-folder.ts';
import { seededRandom } from '../../../support/samples/seeded-random.ts';

let files: CacheFolder;
beforeEach(() => {
  files = new CacheFolder();
});
afterEach(() => files.remove());

const HOUR = 3_600_000;
const text = (cache: DiskCache, key: string) => cache.get(key)?.value.toString();
/** The bytes counted for an entry with a value of this length. */
const bytesFor = (length: number) =>
  occupiedBytes(encodeEntry({ value: Buffer.alloc(length), storedAtMs: 0, expiresAtMs: 0 }).length);

describe('the limit', () => {
  test('keeps the file within 1.4 times its size, however much is written', async () => {
    const maxBytes = 8_000_000;
    const cache = await files.open({ maxBytes });
    const random = seededRandom(1);
    const value = Buffer.alloc(300_000, 'x');
    let written = 0;
    for (let i = 0; written < 10 * maxBytes; i += 1) {
      // Most are small, some are large.
      const length = Math.floor(1000 * 300 ** random());
      cache.set(`k${i}`, value.subarray(0, length), files.now + HOUR + i + Math.floor(random() * 100));
      written += bytesFor(length);
      if (i % 4 === 0) cache.flush();
    }
    cache.flush();
    expect(cache.bytes).toBeGreaterThan(0.9 * maxBytes);
    expect(statSync(files.dataFile).size).toBeLessThan(1.4 * maxBytes);
  });
});

describe('reopening', () => {
  test('with another format starts empty and removes only the old store', async () => {
    const cache = await files.open({ format: 1 });
    cache.set('k', Buffer.from('value'), files.now + HOUR);
    await cache.close();
    writeFileSync(join(files.folder, 'note.txt'), 'somebody else keeps this here');
    const next = await files.open({ format: 2 });
    expect(next.get('k')).toBeUndefined();
    expect(readdirSync(files.folder).sort()).toEqual(['note.txt', 'v1-2']);
  });
});

describe('failures', () => {
  test('reports a folder that cannot be used and stores nothing', async () => {
    const file = join(files.folder, 'file');
    writeFileSync(file, '');
    const cache = await files.open({ folder: join(file, 'below') });
    expect(files.messages).toEqual(['the disk cache cannot be used; values are kept in memory only']);
    cache.set('k', Buffer.from('value'), files.now + HOUR);
    cache.delete('k');
    cache.flush();
    expect([cache.get('k'), cache.size, cache.bytes, cache.holdsValues]).toEqual([undefined, 0, 0, false]);
    await cache.close();
  });

  test('reports failing writes once, loses only their entries, and reports the recovery', async () => {
    const cache = await files.open();
    cache.set('before', Buffer.from('value'), files.now + HOUR);
    cache.flush();
    // A clock that throws simulates a failing disk, which a test cannot provide without a disk to fill.
    const broken = new Error('no space left');
    const fail = () => {
      throw broken;
    };
    Object.defineProperty(files, 'now', { get: fail, configurable: true });
    cache.delete('before');
    cache.flush();
    cache.delete('other');
    cache.flush();
    Object.defineProperty(files, 'now', { value: 1_000_000, writable: true });
    expect(files.problems).toEqual([{ message: 'the disk cache cannot be written', error: broken }]);
    expect(cache.holdsValues).toBe(false);
    expect(text(cache, 'before')).toBe('value');
    cache.set('after', Buffer.from('value'), files.now + HOUR);
    cache.flush();
    expect(text(cache, 'after')).toBe('value');
    expect(files.messages).toEqual(['the disk cache cannot be written', 'the disk cache can be written again']);
    expect(cache.holdsValues).toBe(true);
  });
});

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
