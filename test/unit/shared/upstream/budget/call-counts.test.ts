import { expect, test } from 'vitest';
import { CallCounts } from '../../../../../shared/upstream/budget/call-counts.ts';

const HOUR = 3_600_000;

test('calls are counted by hour and lane until they are drained', () => {
  const counts = new CallCounts();
  counts.note('live', 'taken', HOUR - 1);
  counts.note('live', 'taken', HOUR);
  counts.note('live', 'refused', HOUR + 1);
  counts.note('audit', 'taken', 2 * HOUR - 1);
  const first = [
    { hour: new Date(0), lane: 'live', taken: 1, refused: 0 },
    { hour: new Date(HOUR), lane: 'live', taken: 1, refused: 1 },
    { hour: new Date(HOUR), lane: 'audit', taken: 1, refused: 0 },
  ];
  expect(counts.drain()).toEqual(first);
  expect(counts.drain()).toEqual([]);
});

test('counts that could not be stored are added to those made since', () => {
  const counts = new CallCounts();
  counts.note('live', 'taken', 0);
  counts.note('audit', 'refused', 0);
  const drained = counts.drain();
  counts.note('live', 'taken', 1);
  counts.restore(drained);
  counts.note('audit', 'refused', 1);
  expect(counts.drain()).toEqual([
    { hour: new Date(0), lane: 'live', taken: 2, refused: 0 },
    { hour: new Date(0), lane: 'audit', taken: 0, refused: 2 },
  ]);
});
