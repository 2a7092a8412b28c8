import { expect, test } from 'vitest';
import { coverage } from '../../../../../schemas/api/coverage.ts';
import { coverageAnswer, measure } from '../../../../../services/api/coverage/coverage-route.ts';
import type { StoredRange } from '../../../../../services/api/coverage/coverage-route.ts';
import type { HourCoverage } from '../../../../../shared/crawl/rules/coverage.ts';

const HOUR = 3_600_000;
const FROM = Date.parse('2026-03-10T08:00:00Z');
const NOTHING: StoredRange = { hours: [], calls: [], gapsByHour: [], openBefore: 0, gaps: [] };
const at = (hours: number) => new Date(FROM + hours * HOUR);

const hourOf = (more: Partial<HourCoverage>): HourCoverage => ({
  seen: {},
  late: 0,
  lags: {},
  tombstones: 0,
  posts: null,
  comments: null,
  ...more,
});

/** The answer about the first `hours` hours; now is the end of them. */
function answerOf(hours: number, stored: Partial<StoredRange>, now = FROM + hours * HOUR) {
  const range = { from: FROM, to: FROM + hours * HOUR };
  return coverage.parse(coverageAnswer(range, { ...NOTHING, ...stored }, now));
}

const storedHour = (hour: number, known: HourCoverage, callsPerSecond: number | null = null) =>
  measure({ hour: at(hour), coverage: known, callsPerSecond, computedAt: at(hour + 1) })!;

test('the allowed calls of the hour under way are those of its part that is over', () => {
  const calls = [
    { hour: at(0), lane: 'live', taken: 100, refused: 0 },
    { hour: at(0), lane: 'audit', taken: 7, refused: 2 },
    { hour: at(1), lane: 'live', taken: 50, refused: 1 },
  ];
  const hours = [storedHour(0, hourOf({}), 2), storedHour(1, hourOf({}), 4)];
  const answer = answerOf(2, { calls, hours }, FROM + 1.25 * HOUR);
  expect(answer.hours.map(({ budget }) => [budget.allowed, budget.used])).toEqual([
    [7_200, 107],
    [3_600, 50],
  ]);
  expect(answer.total.budget).toEqual({
    allowed: 10_800,
    used: 157,
    by_lane: { live: { used: 150, refused: 1 }, audit: { used: 7, refused: 2 } },
  });
  const unknown = answerOf(2, { calls, hours: [storedHour(0, hourOf({}), 2)] });
  expect(unknown.total.budget.allowed, 'calls were made in an hour whose limit is not known').toBeNull();
});
