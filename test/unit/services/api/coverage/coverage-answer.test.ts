import { expect, test } from 'vitest';
import { coverage } from '../../../../../schemas/api/coverage.ts';
import { coverageAnswer } from '../../../../../services/api/coverage/coverage-answer.ts';
import type { StoredRange } from '../../../../../services/api/coverage/coverage-answer.ts';
import { measure } from '../../../../../services/api/coverage/measured-hours.ts';
import type { HourCoverage } from '../../../../../shared/domain/coverage/hour-coverage.ts';

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

test('hours of which nothing is known are listed, without figures', () => {
  const { hours, total, gaps, gap_count } = answerOf(2, {});
  expect(hours.map(({ hour, measured_at }) => [hour, measured_at])).toEqual([
    ['2026-03-10T08:00:00.000Z', null],
    ['2026-03-10T09:00:00.000Z', null],
  ]);
  expect(total).toEqual({
    seen: { posts: 0, comments: 0, by_source: {} },
    late: 0,
    tombstones: 0,
    completeness: { posts: null, comments: null },
    lag_seconds: null,
    gaps: { opened: 0, closed: 0, open: 0 },
    budget: { allowed: null, used: 0, by_lane: {} },
  });
  expect([gaps, gap_count]).toEqual([[], 0]);
});

test('the total adds up the hours', () => {
  const first = hourOf({
    seen: { listings: { posts: 1, comments: 5 }, threads: { posts: 0, comments: 2 } },
    late: 1,
    tombstones: 3,
    lags: { 10: 8 },
    posts: { found: 3, unread: 1 },
    comments: { share: 0.9, low: 0.8, high: 0.95, threads: 10, comments: 100 },
  });
  const second = hourOf({
    seen: { listings: { posts: 2, comments: 10 } },
    late: 2,
    tombstones: 1,
    lags: { 10: 1, 50: 91 },
    posts: { found: 4, unread: 0 },
    comments: { share: 1, low: 0.9, high: 1, threads: 30, comments: 300 },
  });
  const { hours, total } = answerOf(3, { hours: [storedHour(0, first), storedHour(1, second)] });
  expect(hours.map(({ seen }) => seen.comments)).toEqual([7, 10, 0]);
  expect(hours[0]!.completeness).toEqual({
    posts: { share: 0.75, found: 3, unread: 1 },
    comments: { share: 0.9, low: expect.closeTo(0.8) as number, high: expect.closeTo(0.95) as number, threads: 10 },
  });
  expect(total).toMatchObject({
    seen: {
      posts: 3,
      comments: 17,
      by_source: { listings: { posts: 3, comments: 15 }, threads: { posts: 0, comments: 2 } },
    },
    late: 3,
    tombstones: 4,
    completeness: { posts: { share: 7 / 8, found: 7, unread: 1 }, comments: { share: 0.975, threads: 40 } },
  });
  // 1.04 to the power of 10 and 50: nine short lags and 91 long ones.
  expect(total.lag_seconds!.p50).toBe(hours[1]!.lag_seconds!.p50);
  expect(total.lag_seconds!.p50).toBeGreaterThan(hours[0]!.lag_seconds!.p99);
});

test('gaps open at the end of an hour are those open before it and opened in it, less those closed', () => {
  const gapsByHour = [
    { hour: at(0), opened: 3, closed: 1 },
    { hour: at(2), opened: 0, closed: 4 },
  ];
  const { hours, total, gap_count } = answerOf(3, { gapsByHour, openBefore: 2 });
  expect(hours.map(({ gaps }) => gaps.open)).toEqual([4, 4, 0]);
  expect(total.gaps).toEqual({ opened: 3, closed: 5, open: 0 });
  expect(gap_count).toBe(5);
});

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

test('a gap is told with what is known of it', () => {
  const gap = { id: 7, source: 'post-ids', reason: 'outage', openedAt: FROM, found: 3 };
  const unknown = { afterAt: undefined, beforeAt: undefined, afterThing: undefined, beforeThing: undefined };
  const open = { ...gap, ...unknown, closedAt: undefined, outcome: undefined };
  const closed = {
    ...gap,
    afterAt: FROM - HOUR,
    beforeAt: FROM - 1,
    afterThing: 't3_a',
    beforeThing: 't3_c',
    closedAt: FROM + 5,
    outcome: 'given_up' as const,
  };
  const shared = { id: '7', source: 'post-ids', reason: 'outage', opened_at: '2026-03-10T08:00:00.000Z', found: 3 };
  expect(answerOf(1, { gaps: [open, closed] }).gaps).toEqual([
    { ...shared, closed_at: null, outcome: null, created_from: null, created_to: null, after: null, before: null },
    {
      ...shared,
      closed_at: '2026-03-10T08:00:00.005Z',
      outcome: 'given_up',
      created_from: '2026-03-10T07:00:00.000Z',
      created_to: '2026-03-10T07:59:59.999Z',
      after: 't3_a',
      before: 't3_c',
    },
  ]);
});
