import { expect, test } from 'vitest';
import { daysLeft } from '../../../../../shared/domain/accounts/credits-left.ts';

test.each([
  [{ balance: 100, activeMonitors: 0, readingCredits: 0 }, undefined],
  [{ balance: 0, activeMonitors: 0, readingCredits: 0 }, undefined],
  [{ balance: 0, activeMonitors: 1, readingCredits: 0 }, 0],
  [{ balance: 30, activeMonitors: 1, readingCredits: 0 }, 3],
  [{ balance: 100, activeMonitors: 2, readingCredits: 30 }, 2],
  [{ balance: 10, activeMonitors: 0, readingCredits: 20 }, 0.5],
])('%j: %d days', (of, days) => {
  expect(daysLeft(of)).toBe(days);
});
