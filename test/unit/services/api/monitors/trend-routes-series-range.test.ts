import { expect, test } from 'vitest';
import { seriesRange } from '../../../../../services/api/monitors/trend-routes.ts';

const NOW = Date.parse('2026-03-31T10:20:30.400Z');

function range(interval: 'hour' | 'day', from?: string, to?: string): string[] {
  const found = seriesRange({ interval, from, to }, NOW);
  return [found.from, found.to].map((time) => new Date(time).toISOString().slice(0, 16));
}

test('by default a month of days or a week of hours, until the end of the running interval', () => {
  expect(range('day')).toEqual(['2026-03-01T00:00', '2026-04-01T00:00']);
  expect(range('hour')).toEqual(['2026-03-24T10:00', '2026-03-31T11:00']);
});

test.each([
  ['2026-03-30T10:00:00Z', '2026-03-30T10:00:00Z', 'must be before `to`'],
  ['2026-03-31T11:00:00Z', '2026-04-02T10:00:00Z', 'must not be in the future'],
  ['2026-02-20T10:00:00Z', undefined, 'must be at most 31 days before `to`'],
])('refuses %s to %s', (from, to, message) => {
  expect(() => range('hour', from, to)).toThrow(`from: ${message}`);
});
