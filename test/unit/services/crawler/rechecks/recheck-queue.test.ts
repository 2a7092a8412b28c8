import { expect, test } from 'vitest';
import { RecheckQueue } from '../../../../../services/crawler/rechecks/recheck-queue.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

const things = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => ({ name: `t1_${from + index}`, at: from + index }));

test('makes full batches at once, a last one after a while, and moves its cursor only over what was looked at', () => {
  const queue = new RecheckQueue([0, ''], false);
  expect(queue.nextPage(10 * SECOND, 5_000)).toEqual({ at: 0, name: '' });
  queue.addPage(10 * SECOND, things(130), 5_000);
  const batch = queue.nextBatch(10 * SECOND)!;
  expect(batch.names).toHaveLength(100);
  expect(queue.nextBatch(10 * SECOND)).toBeUndefined();
  queue.failed();
  expect(queue.position).toEqual([0, '']);
  const again = queue.nextBatch(10 * SECOND)!;
  expect(again).toEqual(batch);
  queue.done(11 * SECOND, again);
  expect(queue.position).toEqual([100, 't1_100']);
  expect(queue.nextBatch(12 * SECOND)).toBeUndefined();
  const rest = queue.nextBatch(41 * SECOND)!;
  expect(rest.names).toHaveLength(30);
  queue.done(42 * SECOND, rest);
  expect(queue.position).toEqual([130, 't1_130']);
  // Only what is due later than the last thing read.
  expect(queue.nextPage(42 * SECOND, 130)).toBeUndefined();
  expect(queue.nextPage(42 * SECOND, 131)).toEqual({ name: 't1_130', at: 130 });
});

test('an empty page moves the cursor to where it was read', () => {
  const queue = new RecheckQueue([0, ''], false);
  queue.addPage(SECOND, [], 77);
  expect(queue.position).toEqual([77, '']);
  expect(queue.nextBatch(SECOND)).toBeUndefined();
});

test('of the things that are due for hours, unmatched ones are skipped and matched ones are not', () => {
  const due = 100 * HOUR;
  expect(new RecheckQueue([HOUR, 'a'], false).nextPage(SECOND, due)).toEqual({ at: HOUR, name: 'a' });
  const skipping = new RecheckQueue([HOUR, 'a'], true);
  expect(skipping.behindMs(due)).toBe(99 * HOUR);
  expect(skipping.nextPage(SECOND, due)?.at).toBeGreaterThan(90 * HOUR);
});

test('reads a page a second while pages fill batches, and every five seconds otherwise', () => {
  const queue = new RecheckQueue([0, ''], false);
  const isRead = (now: number) => queue.nextPage(now, 10_000) !== undefined;
  queue.addPage(60 * SECOND, things(100), 10_000);
  const batch = queue.nextBatch(60 * SECOND)!;
  queue.done(60 * SECOND, batch);
  expect([isRead(60.9 * SECOND), isRead(61 * SECOND)]).toEqual([false, true]);
  queue.addPage(61 * SECOND, things(99, 101), 10_000);
  expect([isRead(65.9 * SECOND), isRead(66 * SECOND)]).toEqual([false, true]);
  queue.addPage(66 * SECOND, [], 10_000);
  expect([isRead(70.9 * SECOND), isRead(71 * SECOND)]).toEqual([false, false]);
  expect(queue.nextPage(71 * SECOND, 10_001)).toBeDefined();
});

test('things are looked at when the first of them has been due for half a minute, whenever it was read', () => {
  const queue = new RecheckQueue([0, ''], false);
  queue.addPage(100 * SECOND, things(10), 4 * SECOND + 1);
  expect(queue.nextBatch(126 * SECOND - 1)).toBeUndefined();
  expect(queue.nextBatch(126 * SECOND)?.names).toHaveLength(10);
});
