import { expect, test } from 'vitest';
import { RecheckQueue } from '../../../../services/crawler/recheck-queue.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

const things = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => ({ name: `t1_${from + index}`, at: from + index }));

test('makes full batches at once, a last one after a while, and moves its cursor only over what was rechecked', () => {
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
  // Only what is due later than the last item read.
  expect(queue.nextPage(42 * SECOND, 130)).toBeUndefined();
  expect(queue.nextPage(42 * SECOND, 131)).toEqual({ name: 't1_130', at: 130 });
});

test('of the items that are due for hours, unmatched ones are skipped and matched ones are not', () => {
  const due = 100 * HOUR;
  expect(new RecheckQueue([HOUR, 'a'], false).nextPage(SECOND, due)).toEqual({ at: HOUR, name: 'a' });
  const skipping = new RecheckQueue([HOUR, 'a'], true);
  skipping.adapt(SECOND, due);
  expect(skipping.share).toBeLessThan(1);
  expect(skipping.nextPage(SECOND, due)?.at).toBeGreaterThan(90 * HOUR);
});

test('items are rechecked when the first of them has been due for half a minute, whenever it was read', () => {
  const queue = new RecheckQueue([0, ''], false);
  queue.addPage(100 * SECOND, things(10), 4 * SECOND + 1);
  expect(queue.nextBatch(126 * SECOND - 1)).toBeUndefined();
  expect(queue.nextBatch(126 * SECOND)?.names).toHaveLength(10);
});
