import { expect, test } from 'vitest';
import { AttemptPermits } from '../../../../services/deliverer/attempt-permits.ts';

const anyone = () => true;

/** As many as there are, one endpoint after the other. */
function takeAll(permits: AttemptPermits, responsiveness: 'answering' | 'unknown' | 'silent'): number {
  for (let taken = 0; ; taken++) if (permits.take(responsiveness, 1) === 0) return taken;
}

test.each([
  { responsiveness: 'answering', most: 70 },
  { responsiveness: 'unknown', most: 60 },
  { responsiveness: 'silent', most: 40 },
] as const)('endpoints that are $standing take at most $most of 80 permits', ({ responsiveness, most }) => {
  expect(takeAll(new AttemptPermits(80), responsiveness)).toBe(most);
});

test('whoever came first, a quarter of all permits is left to those that answer, and an eighth to the others', () => {
  const permits = new AttemptPermits(80);
  expect([takeAll(permits, 'silent'), takeAll(permits, 'unknown'), takeAll(permits, 'answering')]).toEqual([
    40, 20, 20,
  ]);
  expect(permits.inUse).toBe(80);
  const busy = new AttemptPermits(80);
  expect([takeAll(busy, 'answering'), takeAll(busy, 'silent')]).toEqual([70, 10]);
});

test('endpoints that do not answer get one permit each when half of their share is gone', () => {
  const permits = new AttemptPermits(80);
  const unknown = Array.from({ length: 40 }, () => permits.take('unknown', 4));
  expect(unknown.slice(0, 10)).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 1, 1]);
  expect(unknown.reduce((sum, taken) => sum + taken)).toBe(60);
});

test('a permit that comes free goes to the first who waits and wants it, and to nobody who comes later', () => {
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

test('those that answer are served first, each kind within its share', () => {
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

test('attempts that turn out to be silent leave no room for further silent ones', () => {
  const permits = new AttemptPermits(8);
  expect(permits.take('answering', 6)).toBe(6);
  for (let moved = 0; moved < 6; moved++) permits.move('answering', 'silent');
  expect([permits.take('silent', 1), permits.take('unknown', 1), permits.take('answering', 4)]).toEqual([0, 0, 2]);
  permits.release('silent', 6);
  expect(permits.inUse).toBe(2);
});
