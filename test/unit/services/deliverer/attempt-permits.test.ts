import { expect, test } from 'vitest';
import { AttemptPermits } from '../../../../services/deliverer/attempt-permits.ts';

const anyone = () => true;

/** Takes permits one by one until none is left; returns how many. */
function takeAll(permits: AttemptPermits, responsiveness: 'answering' | 'unknown' | 'silent'): number {
  for (let taken = 0; ; taken++) if (permits.take(responsiveness, 1) === 0) return taken;
}

test.each([
  { responsiveness: 'answering', limit: 70 },
  { responsiveness: 'unknown', limit: 60 },
  { responsiveness: 'silent', limit: 40 },
] as const)('endpoints that are $standing take at most $limit of 80 permits', ({ responsiveness, limit }) => {
  expect(takeAll(new AttemptPermits(80), responsiveness)).toBe(limit);
});

test('a quarter of all permits is reserved for answering endpoints and an eighth for the others, whoever came first', () => {
  const permits = new AttemptPermits(80);
  expect([takeAll(permits, 'silent'), takeAll(permits, 'unknown'), takeAll(permits, 'answering')]).toEqual([
    40, 20, 20,
  ]);
  expect(permits.inUse).toBe(80);
  const busy = new AttemptPermits(80);
  expect([takeAll(busy, 'answering'), takeAll(busy, 'silent')]).toEqual([70, 10]);
});

test('silent and unknown endpoints get one permit at a time when half of their share is used', () => {
  const permits = new AttemptPermits(80);
  const unknown = Array.from({ length: 40 }, () => permits.take('unknown', 4));
  expect(unknown.slice(0, 10)).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 1, 1]);
  expect(unknown.reduce((sum, taken) => sum + taken)).toBe(60);
});

test('a free permit goes to the first waiting monitor that still wants it, not to a later caller', () => {
  const permits = new AttemptPermits(8);
  expect(takeAll(permits, 'silent')).toBe(4);
  for (const id of ['a', 'gone', 'b', 'c', 'a']) permits.waitFor('silent', id);
  permits.release('silent', 2);
  expect(permits.take('silent', 1)).toBe(0);
  expect(permits.handOut((id) => id !== 'gone')).toEqual([
    { monitorId: 'a', responsiveness: 'silent' },
    { monitorId: 'b', responsiveness: 'silent' },
  ]);
  expect(permits.handOut(anyone)).toEqual([]);
});

test('answering endpoints are served first, each group within its share', () => {
  const permits = new AttemptPermits(8);
  takeAll(permits, 'silent');
  takeAll(permits, 'unknown');
  takeAll(permits, 'answering');
  permits.waitFor('silent', 's');
  permits.waitFor('unknown', 'u');
  permits.waitFor('answering', 'a');
  permits.release('unknown', 1);
  expect(permits.handOut(anyone)).toEqual([{ monitorId: 'a', responsiveness: 'answering' }]);
  permits.release('silent', 1);
  expect(permits.handOut(anyone)).toEqual([{ monitorId: 'u', responsiveness: 'unknown' }]);
});

test('attempts that become silent count against the share of silent endpoints', () => {
  const permits = new AttemptPermits(8);
  expect(permits.take('answering', 6)).toBe(6);
  for (let moved = 0; moved < 6; moved++) permits.move('answering', 'silent');
  expect([permits.take('silent', 1), permits.take('unknown', 1), permits.take('answering', 4)]).toEqual([0, 0, 2]);
  permits.release('silent', 6);
  expect(permits.inUse).toBe(2);
});
