import { expect, test } from 'vitest';
import { measure, MeasuredHours } from '../../../../../services/api/coverage/measured-hours.ts';
import type { Queryable } from '../../../../../shared/postgres/pool.ts';

const HOUR = 3_600_000;
const EMPTY = { seen: {}, late: 0, lags: {}, tombstones: 0, posts: null, comments: null };

/** A database with these hours, stored at these times; `asked` holds the hours that were read with their coverage. */
function databaseOf(stored: Map<number, number>) {
  const asked: number[][] = [];
  const rowOf = (hour: number) => ({ hour: new Date(hour * HOUR), computedAt: new Date(stored.get(hour)!) });
  const query = (text: string, values: unknown[]) => {
    if (!text.includes('ANY')) {
      const [from, to] = values.map((at) => (at as Date).getTime() / HOUR) as [number, number];
      const hours = [...stored.keys()].filter((hour) => hour >= from && hour < to).sort((a, b) => a - b);
      return Promise.resolve({ rows: hours.map(rowOf) });
    }
    const hours = (values[0] as Date[]).map((at) => at.getTime() / HOUR);
    asked.push(hours);
    const rows = hours.map((hour) => ({
      ...rowOf(hour),
      callsPerSecond: 1,
      coverage: { ...EMPTY, late: stored.get(hour)! },
    }));
    return Promise.resolve({ rows });
  };
  return { db: { query } as unknown as Queryable, asked };
}

const hoursOf = (count: number) => new Map(Array.from({ length: count }, (_, hour) => [hour, 1]));
const at = (hour: number) => new Date(hour * HOUR);

test('reads the coverage of an hour once, and again when it was stored again', async () => {
  const stored = hoursOf(3);
  const { db, asked } = databaseOf(stored);
  const measured = new MeasuredHours(db);
  expect((await measured.read(at(0), at(3))).map(({ coverage }) => coverage.late)).toEqual([1, 1, 1]);
  await measured.read(at(1), at(3));
  stored.set(2, 7);
  expect((await measured.read(at(0), at(4))).map(({ coverage }) => coverage.late)).toEqual([1, 1, 7]);
  expect(asked).toEqual([[0, 1, 2], [2]]);
});

test('keeps a bounded number of hours: those that were asked for last', async () => {
  const { db, asked } = databaseOf(hoursOf(1_001));
  const measured = new MeasuredHours(db);
  await measured.read(at(0), at(1_000));
  await measured.read(at(0), at(1));
  await measured.read(at(1_000), at(1_001));
  asked.length = 0;
  await measured.read(at(0), at(1));
  expect(asked).toEqual([]);
  await measured.read(at(1), at(2));
  expect(asked).toEqual([[1]]);
});

test('an hour of a version that cannot be read is not known', () => {
  const stored = { hour: new Date(0), computedAt: new Date(0), callsPerSecond: null };
  expect(measure({ ...stored, coverage: { seen: 1 } })).toBeUndefined();
  expect(measure({ ...stored, coverage: EMPTY })).toMatchObject({ coverage: EMPTY, lags: null });
});
