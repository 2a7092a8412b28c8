import { expect, test } from 'vitest';
import { coverageQuery } from '../../../../../schemas/api/coverage.ts';
import { coverageRange } from '../../../../../services/api/coverage/coverage-route.ts';

const NOW = Date.parse('2026-03-10T10:20:30.400Z');

const rangeOf = (query: object) => {
  const { from, to } = coverageRange(coverageQuery.parse(query), NOW);
  return [from, to].map((time) => new Date(time).toISOString().replace(':00:00.000Z', ''));
};

test.each<[object, [string, string]]>([
  [{}, ['2026-03-09T11', '2026-03-10T11']],
  [{ from: '2026-03-10T09:59:59Z' }, ['2026-03-10T09', '2026-03-10T11']],
  [{ from: '2026-03-10T10:20:30.399Z' }, ['2026-03-10T10', '2026-03-10T11']],
  [{ to: '2026-03-09T10:00:00Z' }, ['2026-03-08T10', '2026-03-09T10']],
  [{ to: '2026-03-09T10:00:00.001Z' }, ['2026-03-08T11', '2026-03-09T11']],
  [{ to: '2027-01-01T00:00:00Z' }, ['2026-03-09T11', '2026-03-10T11']],
  [{ from: '2026-03-09T08:30:00+02:00', to: '2026-03-09T07:00:00Z' }, ['2026-03-09T06', '2026-03-09T07']],
  [{ from: '2026-03-09T06:30:00Z', to: '2026-03-09T06:31:00Z' }, ['2026-03-09T06', '2026-03-09T07']],
  [{ from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }, ['2026-01-01T00', '2026-02-01T00']],
])('%j is %j', (query, hours) => {
  expect(rangeOf(query)).toEqual(hours);
});

test.each<[object, string]>([
  [{ from: '2026-03-09T10:00:00Z', to: '2026-03-09T10:00:00Z' }, 'from: must be before `to`'],
  [{ from: '2026-03-10T10:20:30.400Z' }, 'from: must be before `to`'],
  [{ from: '2026-03-10T11:00:00Z', to: '2026-03-10T12:00:00Z' }, 'from: must not be in the future'],
  [{ from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:01Z' }, 'from: must be at most 31 days before `to`'],
])('%j is refused: %s', (query, message) => {
  expect(() => rangeOf(query)).toThrow(message);
});
