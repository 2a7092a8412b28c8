import { expect, test } from 'vitest';
import { readRecent, RecentItems, RECENT_MS } from '../../../../services/matcher/recent-items.ts';
import { forumItemOf } from '../../../support/samples/forum-items.ts';

const item = forumItemOf('t1_a');
const message = Buffer.from(JSON.stringify(item));
const P0 = 'forum.posts|0';
const P1 = 'forum.posts|1';

function filled(...times: number[]): RecentItems {
  const recent = new RecentItems();
  times.forEach((enteredAtMs, index) => recent.add(P0, { offset: BigInt(index), enteredAtMs, message }));
  return recent;
}

function offsetsSince(recent: RecentItems, fromMs: number): bigint[] {
  return recent.since(fromMs).map(({ offset }) => offset);
}

test('keeps the last 30 s of each partition, relative to its own newest item, and at most a few hundred items more', () => {
  const recent = new RecentItems();
  for (let at = 0; at <= 100_000; at += 100) {
    recent.add(P0, { offset: BigInt(at), enteredAtMs: at, message });
    expect(recent.size).toBeLessThanOrEqual(RECENT_MS / 100 + 513);
  }
  recent.add(P1, { offset: 7n, enteredAtMs: 1, message });
  expect(offsetsSince(recent, 100_000 - RECENT_MS)).toHaveLength(RECENT_MS / 100 + 1);
  expect(recent.oldestOffset(P0)).toBeLessThanOrEqual(BigInt(100_000 - RECENT_MS));
  expect(recent.oldestOffset(P1), 'a quiet partition keeps its items').toBe(7n);
});

test('keeps messages of any length, each as it was', () => {
  const recent = new RecentItems();
  const lengths = [10, 300_000, 0, 200_000, 100_000, 5, 1_000_000];
  lengths.forEach((length, index) => {
    recent.add(P0, { offset: BigInt(index), enteredAtMs: index, message: Buffer.alloc(length, index + 1) });
  });
  const kept = recent.since(0);
  expect(kept.map(({ message: { length } }) => length)).toEqual(lengths);
  for (const [index, { message: copy }] of kept.entries()) expect(copy.every((byte) => byte === index + 1)).toBe(true);
});

test('ignores a repeated batch', () => {
  const recent = filled(10, 20, 30);
  for (const [offset, at] of [
    [1, 20],
    [2, 30],
  ] as const)
    recent.add(P0, { offset: BigInt(offset), enteredAtMs: at, message });
  expect(offsetsSince(recent, 0)).toEqual([0n, 1n, 2n]);
});

test('reading from an earlier offset restarts the partition without gaps or duplicates', () => {
  const recent = new RecentItems();
  const add = (offset: number) => recent.add(P0, { offset: BigInt(offset), enteredAtMs: offset, message });
  [10, 11, 12].forEach(add);
  [8, 9, 10, 11].forEach(add);
  expect(offsetsSince(recent, 0)).toEqual([8n, 9n, 10n, 11n]);
});

test('a topic that was created again starts at offset 0', () => {
  const recent = filled(10, 20, 30);
  recent.add(P1, { offset: 5n, enteredAtMs: 1, message });
  recent.clear();
  expect(recent.size).toBe(0);
  recent.add(P1, { offset: 0n, enteredAtMs: 99, message });
  expect([recent.oldestOffset(P0), recent.oldestOffset(P1)]).toEqual([undefined, 0n]);
});

test('loses nothing when the append time steps back (another broker leads)', () => {
  expect(offsetsSince(filled(40_000, 39_000, 41_000), 39_000)).toEqual([0n, 1n, 2n]);
});

test('is limited in bytes: the oldest items of the largest partition are evicted first and counted', () => {
  const maxBytes = 1024 * 1024;
  const recent = new RecentItems(maxBytes);
  const long = Buffer.from(JSON.stringify({ ...item, body: 'x'.repeat(10_000) }));
  recent.add(P1, { offset: 0n, enteredAtMs: 1_000, message });
  for (let n = 0; n < 1_000; n++) {
    recent.add(P0, { offset: BigInt(n), enteredAtMs: 1_000, message: long });
    expect(recent.bytes).toBeLessThanOrEqual(maxBytes);
  }
  const kept = recent.size - 1;
  expect(recent.takeEvictedCount()).toBe(1_000 - kept);
  expect(recent.takeEvictedCount()).toBe(0);
  expect(kept).toBeGreaterThan(20);
  expect(recent.oldestOffset(P0), 'a refill starts at the oldest recent item').toBe(BigInt(1_000 - kept));
  expect(recent.oldestOffset(P1)).toBe(0n);
});

test('keeps a copy of the message, which is a view into the answer to a fetch', () => {
  const recent = new RecentItems();
  const fetched = Buffer.from(message);
  recent.add(P0, { offset: 1n, enteredAtMs: 1, message: fetched });
  fetched.fill(0);
  expect(recent.since(0).map(readRecent)).toEqual([{ offset: 1n, enteredAtMs: 1, item }]);
});
