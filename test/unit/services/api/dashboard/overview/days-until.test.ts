import { expect, test } from 'vitest';
import { daysUntil } from '../../../../../../services/api/dashboard/overview/days-until.ts';

test('the last days end with today in UTC, over months and leap days', () => {
  expect(daysUntil(Date.parse('2028-03-01T00:00:00Z'), 3)).toEqual(['2028-02-28', '2028-02-29', '2028-03-01']);
  expect(daysUntil(Date.parse('2027-01-01T23:59:59.999Z'), 2)).toEqual(['2026-12-31', '2027-01-01']);
});
