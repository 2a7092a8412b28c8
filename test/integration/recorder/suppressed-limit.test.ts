import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Candidate } from '../../../schemas/messages/candidate.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { readMonitorStats } from '../../../shared/stores/monitors/monitor-stats.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** The daily cap of a free account. */
const CAP = 200;
const CEILING = 30;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => moveToNoon(0));

/** Moves the service's clock to noon, so that no test crosses midnight by chance. */
async function moveToNoon(daysFromNow: number): Promise<void> {
  const now = Date.now();
  const noon = now - (now % 86_400_000) + (daysFromNow + 0.5) * 86_400_000;
  await database.setShift(`${(noon - now) / 1_000} seconds`);
}

const record = (candidates: Candidate[], pool: Pool = database.pool) =>
  recordBatch({ pool, toleranceMs: 0, suppressedPerDay: CEILING }, candidates);

let things = 0;
const newThing = () => `t1_c${(things++).toString(36)}`;

async function newMonitor(): Promise<string> {
  return (await insertMonitors(database.pool, 1, { webhookUrl: 'https://example.com/' }))[0]!;
}

/** @param enteredAfterMs from now */
function someOf(monitorId: string, count: number, enteredAfterMs = 0): Candidate[] {
  const enteredAt = new Date(Date.now() + enteredAfterMs).toISOString();
  return Array.from({ length: count }, () => candidateOf({ monitorId, thingId: newThing(), enteredAt }));
}

async function numberOf(statement: string, values: unknown[]): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>(statement, values);
  return rows[0]!.n;
}
const storedOf = (monitorId: string) =>
  numberOf('SELECT count(*)::int AS n FROM matches WHERE monitor_id = $1', [monitorId]);
const lastSeqOf = (monitorId: string) =>
  numberOf('SELECT last_seq::int AS n FROM monitor_counters WHERE monitor_id = $1', [monitorId]);
const contentsOf = (candidates: readonly Candidate[]) =>
  numberOf('SELECT count(*)::int AS n FROM matched_items WHERE thing_id = ANY ($1::text[])', [
    candidates.map(({ item }) => item.thing_id),
  ]);

/** The pool with a count of all statements; `after.run` runs after the first statement of that name. */
function watched(after?: { name: string; run: () => Promise<unknown> }): { pool: Pool; statements: () => number } {
  let sent = 0;
  let isDone = false;
  const watch = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(on, property) {
        const member = Reflect.get(on, property) as unknown;
        if (typeof member !== 'function') return member;
        if (property === 'connect') return async () => watch((await (member as () => Promise<object>).call(on)) as T);
        if (property !== 'query') return member.bind(on) as unknown;
        return async (statement: { name?: string }, ...rest: unknown[]) => {
          sent += 1;
          const result = (await Reflect.apply(member, on, [statement, ...rest])) as unknown;
          if (after && statement.name === after.name && !isDone) {
            isDone = true;
            await after.run();
          }
          return result;
        };
      },
    });
  return { pool: watch(database.pool), statements: () => sent };
}

test('stores suppressed matches up to the limit per monitor and day, and only counts those over it', async () => {
  const monitorId = await newMonitor();
  const { matches, outcomes } = await record(someOf(monitorId, CAP + CEILING + 25));
  expect(outcomes).toEqual({ recorded: CAP, suppressed: CEILING, not_stored: 25 });
  expect(matches.map(({ seq }) => seq)).toEqual(Array.from({ length: CAP + CEILING }, (_, index) => index + 1));
  const before = { stored: await storedOf(monitorId), lastSeq: await lastSeqOf(monitorId) };
  expect(before).toEqual({ stored: CAP + CEILING, lastSeq: CAP + CEILING });

  const more = someOf(monitorId, 2_000);
  const { pool, statements } = watched();
  expect(await record(more, pool)).toEqual({ matches: [], outcomes: { not_stored: 2_000 } });
  // No content, match or number is stored, only the day's row and the counter, with as many statements as for any
  // batch.
  expect(await contentsOf(more)).toBe(0);
  expect({ stored: await storedOf(monitorId), lastSeq: await lastSeqOf(monitorId) }).toEqual(before);
  expect(statements()).toBeLessThanOrEqual(13);
  expect(await readMonitorStats(database.pool, monitorId)).toMatchObject({
    matchesToday: CAP,
    suppressedToday: CEILING,
    suppressedNotStored: 2_025,
  });
});

test('a repeat publishes the stored matches as the same bytes and nothing else, also on later days', async () => {
  const monitorId = await newMonitor();
  const batch = someOf(monitorId, CAP + CEILING + 25);
  const first = await record(batch);
  const again = await record(batch);
  expect(again.outcomes).toEqual({ repeated: CAP + CEILING, not_stored: 25 });
  expect(JSON.stringify(again.matches)).toBe(JSON.stringify(first.matches));
  await moveToNoon(1);
  const nextDay = await record(batch);
  expect(nextDay.outcomes).toEqual({ repeated: CAP + CEILING, not_stored: 25 });
  expect(JSON.stringify(nextDay.matches)).toBe(JSON.stringify(first.matches));
  expect(await lastSeqOf(monitorId)).toBe(CAP + CEILING);
});

test.each([
  { change: 'a larger pack', apply: (id: string) => largerPackOf(id) },
  { change: 'a new day', apply: () => moveToNoon(1) },
])('$change between the first read and the lock loses no match', async ({ apply }) => {
  const monitorId = await newMonitor();
  await record(someOf(monitorId, CAP + CEILING + 1));
  const more = someOf(monitorId, 5, 1_000);
  const { pool } = watched({ name: 'recording-find-suppressed-monitors', run: () => apply(monitorId) });
  const { matches, outcomes } = await record(more, pool);
  expect(outcomes).toEqual({ recorded: 5 });
  expect(matches.map(({ item }) => item)).toEqual(more.map(({ item }) => item));
  expect(await contentsOf(more)).toBe(5);
});

async function largerPackOf(monitorId: string): Promise<void> {
  await database.pool.query('UPDATE accounts SET pack = 9 WHERE id = (SELECT account_id FROM monitors WHERE id = $1)', [
    monitorId,
  ]);
}
