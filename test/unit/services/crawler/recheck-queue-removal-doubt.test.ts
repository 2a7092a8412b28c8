import { expect, test } from 'vitest';
import { RemovalDoubt } from '../../../../services/crawler/recheck-queue.ts';

const MINUTE = 60_000;

test('believes removals of a few items, or of less than half, at once', () => {
  const doubt = new RemovalDoubt();
  expect(doubt.isBelievable(19, 19, 0)).toBe(true);
  expect(doubt.isBelievable(50, 100, 0)).toBe(true);
});

test('believes that most items are gone only if the forum still says so ten minutes later, then for an hour', () => {
  const doubt = new RemovalDoubt();
  expect(doubt.isBelievable(100, 100, 0)).toBe(false);
  expect(doubt.isBelievable(100, 100, 9 * MINUTE)).toBe(false);
  expect(doubt.isBelievable(100, 100, 10 * MINUTE)).toBe(true);
  expect(doubt.isBelievable(80, 100, 60 * MINUTE)).toBe(true);
  expect(doubt.isBelievable(80, 100, 70 * MINUTE)).toBe(false);
});

test('forgets the doubt when the forum takes it back', () => {
  const doubt = new RemovalDoubt();
  expect(doubt.isBelievable(100, 100, 0)).toBe(false);
  expect(doubt.isBelievable(3, 100, MINUTE)).toBe(true);
  expect(doubt.isBelievable(100, 100, 11 * MINUTE)).toBe(false);
});
