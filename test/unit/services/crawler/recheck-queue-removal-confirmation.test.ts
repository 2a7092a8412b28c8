import { expect, test } from 'vitest';
import { RemovalConfirmation } from '../../../../services/crawler/recheck-queue.ts';

const MINUTE = 60_000;

test('removals of a few items, or of less than half, count at once', () => {
  const confirmation = new RemovalConfirmation();
  expect(confirmation.isConfirmed(19, 19, 0)).toBe(true);
  expect(confirmation.isConfirmed(50, 100, 0)).toBe(true);
});

test('removals of most items count only if the forum still says so ten minutes later, then for an hour', () => {
  const confirmation = new RemovalConfirmation();
  expect(confirmation.isConfirmed(100, 100, 0)).toBe(false);
  expect(confirmation.isConfirmed(100, 100, 9 * MINUTE)).toBe(false);
  expect(confirmation.isConfirmed(100, 100, 10 * MINUTE)).toBe(true);
  expect(confirmation.isConfirmed(80, 100, 60 * MINUTE)).toBe(true);
  expect(confirmation.isConfirmed(80, 100, 70 * MINUTE)).toBe(false);
});

test('an answer that takes them back begins the ten minutes anew', () => {
  const confirmation = new RemovalConfirmation();
  expect(confirmation.isConfirmed(100, 100, 0)).toBe(false);
  expect(confirmation.isConfirmed(3, 100, MINUTE)).toBe(true);
  expect(confirmation.isConfirmed(100, 100, 11 * MINUTE)).toBe(false);
});
