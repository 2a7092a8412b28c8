import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DiskCache } from '../../../../../services/api/reading/cached-reads.ts';
import { CacheFolder } from '../../../../support/fixtures/cache-folder.ts';
import { seededRandom } from '../../../../support/samples/seeded-random.ts';

let files: CacheFolder;
beforeEach(() => {
  files = new CacheFolder();
});
afterEach(() => files.remove());

const HOUR = 3_600_000;
const text = (cache: DiskCache, key: string) => cache.get(key)?.value.toString();

test('the file stays within the limit, however much is written, and keeps what expires last', () => {
  const maxBytes = 8_000_000;
  const cache = files.open({ maxBytes });
  const random = seededRandom(1);
  const value = Buffer.alloc(300_000, 'x');
  let last = 0;
  for (let written = 0; written < 10 * maxBytes; last += 1) {
    // Most are small, some are large.
    const length = Math.floor(1000 * 300 ** random());
    cache.set(`k${last}`, value.subarray(0, length), files.now + HOUR + last);
    written += length;
  }
  expect(cache.get(`k${last - 1}`)).toBeDefined();
  expect(cache.get('k0')).toBeUndefined();
  const kept = Array.from({ length: last }, (_, n) => cache.get(`k${n}`)?.value.length ?? 0);
  expect(kept.reduce((sum, length) => sum + length)).toBeGreaterThan(0.7 * maxBytes);
  cache.close();
  expect(statSync(files.dataFile).size).toBeLessThanOrEqual(maxBytes);
  expect(files.messages).toEqual([]);
});

test('a large value takes the place of small ones in a few tries', () => {
  const cache = files.open({ maxBytes: 8_000_000 });
  for (let i = 0; i < 10_000; i++) cache.set(`k${i}`, Buffer.alloc(1_000), files.now + HOUR + i);
  const run = vi.spyOn(StatementSync.prototype, 'run');
  cache.set('large', Buffer.alloc(3_000_000), files.now + 2 * HOUR);
  expect(run.mock.calls.length).toBeLessThan(30);
  run.mockRestore();
  expect(cache.get('large')?.value).toHaveLength(3_000_000);
  expect(cache.get('k9999')).toBeDefined();
});

test('what was stored outlives a process that was killed, and another format starts empty', () => {
  files.open().set('k', Buffer.from('value'), files.now + HOUR, 7);
  // The files as they are, without a close.
  const next = files.copy();
  expect(next.open().get('k')).toEqual({ value: Buffer.from('value'), storedAtMs: 7 });
  next.closeAll();
  expect(next.open({ format: 2 }).get('k')).toBeUndefined();
  expect(next.messages).toEqual([]);
  next.remove();
});

describe('failures', () => {
  test('reports a folder that cannot be used and stores nothing', () => {
    const file = join(files.folder, 'file');
    writeFileSync(file, '');
    const cache = files.open({ folder: join(file, 'below') });
    expect(files.messages).toEqual(['the disk cache cannot be used; values are kept in memory only']);
    cache.set('k', Buffer.from('value'), files.now + HOUR);
    cache.delete('k');
    expect(cache.get('k')).toBeUndefined();
  });

  test('reports failing writes once, loses only their entries, and reports the recovery', () => {
    const cache = files.open();
    cache.set('before', Buffer.from('value'), files.now + HOUR);
    // A clock that throws simulates a failing disk, which a test cannot provide without a disk to fill.
    const broken = new Error('no space left');
    const fail = () => {
      throw broken;
    };
    const value = Buffer.from('value');
    Object.defineProperty(files, 'now', { get: fail, configurable: true });
    cache.set('lost', value, HOUR, 0);
    cache.set('lost', value, HOUR, 0);
    Object.defineProperty(files, 'now', { value: 1_000_000, writable: true });
    expect(files.problems).toEqual([{ message: 'the disk cache cannot be written', error: broken }]);
    expect(text(cache, 'before')).toBe('value');
    cache.set('after', value, files.now + HOUR);
    expect(text(cache, 'after')).toBe('value');
    expect(files.messages).toEqual(['the disk cache cannot be written', 'the disk cache can be written again']);
  });
});

describe('a damaged file', () => {
  const halves: [string, (file: string) => void][] = [
    ['is not a database', (file) => writeFileSync(file, randomBytes(statSync(file).size))],
    [
      'has another header',
      (file) => {
        const data = readFileSync(file);
        data.fill(0xab, 30, 100);
        writeFileSync(file, data);
      },
    ],
    ['ends after its first page', (file) => truncateSync(file, 4096)],
    ['lost its second half', (file) => truncateSync(file, statSync(file).size / 2)],
    [
      'has random bytes after its header',
      (file) => {
        const data = readFileSync(file);
        randomBytes(data.length - 4096).copy(data, 4096);
        writeFileSync(file, data);
      },
    ],
  ];

  test.each(halves)('that %s gives no wrong value and is replaced by an empty one', (_, damage) => {
    const before = files.open();
    for (let i = 0; i < 400; i += 1) before.set(`k${i}`, Buffer.alloc(5000, i), files.now + HOUR + i);
    before.close();
    damage(files.dataFile);
    const cache = files.open();
    for (let i = 0; i < 400; i += 1) {
      const found = cache.get(`k${i}`);
      if (found) expect(found.value).toEqual(Buffer.alloc(5000, i));
    }
    expect(files.messages).toContain('the disk cache starts empty, because its file is damaged');
    cache.set('new', Buffer.from('value'), files.now + HOUR);
    cache.close();
    expect(text(files.open(), 'new')).toBe('value');
  });

  test('with a damaged value loses only this one and reports it', () => {
    const before = files.open();
    for (let i = 0; i < 10; i += 1) before.set(`k${i}`, Buffer.alloc(5000, i), files.now + HOUR);
    before.close();
    const data = readFileSync(files.dataFile);
    data[data.indexOf(Buffer.alloc(3000, 7)) + 100]! += 1;
    writeFileSync(files.dataFile, data);
    const cache = files.open();
    expect(cache.get('k7')).toBeUndefined();
    expect(cache.get('k8')?.value).toEqual(Buffer.alloc(5000, 8));
    expect(files.messages).toEqual(['a damaged entry of the disk cache was removed']);
  });
});

type Command =
  | { do: 'set'; key: number; length: number; forMs: number }
  | { do: 'delete' | 'get'; key: number }
  | { do: 'wait'; ms: number };

const key = fc.nat(12);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      key,
      length: fc.oneof(fc.nat(100), fc.nat(90_000)),
      forMs: fc.nat(50),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('get' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(20) }) },
);

test('never returns an old, expired or deleted value, and finds every other one while there is room', () => {
  const cache = files.open({ maxBytes: 10_000_000 });
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
        const expected = model.get(step.key);
        const isAlive = expected !== undefined && expected.expiresAt > files.now;
        expect(cache.get(`k${step.key}`)?.value).toEqual(isAlive ? expected.value : undefined);
      } else if ('ms' in step) files.now += step.ms;
    }
    for (let n = 0; n < 13; n += 1) cache.delete(`k${n}`);
  };
  fc.assert(fc.property(fc.array(command, { maxLength: 80 }), run), { numRuns: 150 });
});
