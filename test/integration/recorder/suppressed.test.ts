import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Candidate } from '../../../schemas/messages/monitor-match.ts';
import { recordedMatch } from '../../../schemas/messages/monitor-match.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { readMatchesAfter } from '../../../shared/matches/match-pages.ts';
import { readMonitorStats } from '../../../shared/monitors/monitors.ts';
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
beforeEach(() => database.moveToNoon(0));

const record = (candidates: Candidate[], { suppressedPerDay = CEILING, pool = database.pool } = {}) =>
  recordBatch({ pool, toleranceMs: 0, suppressedPerDay }, candidates);

let things = 0;
const newThing = () => `t1_c${(things++).toString(36)}`;

async function newMonitor(threadOnce = false): Promise<string> {
  return (await insertMonitors(database.pool, 1, { threadOnce, webhookUrl: 'https://example.com/' }))[0]!;
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

const buyPack = (monitorId: string) =>
  database.pool.query('UPDATE accounts SET pack = 9 WHERE id = (SELECT account_id FROM monitors WHERE id = $1)', [
    monitorId,
  ]);

/** The pool; `run` runs after the first statement of that name. */
function interrupted(name: string, run: () => Promise<unknown>): Pool {
  let isDone = false;
  return new Proxy(database.pool, {
    get(pool, property) {
      const member = Reflect.get(pool, property) as unknown;
      if (typeof member !== 'function') return member;
      if (property !== 'query') return member.bind(pool) as unknown;
      return async (statement: { name?: string }, ...rest: unknown[]) => {
        const result = (await Reflect.apply(member, pool, [statement, ...rest])) as unknown;
        if (statement.name === name && !isDone) {
          isDone = true;
          await run();
        }
        return result;
      };
    },
  });
}

test('stores suppressed matches up to the limit per monitor and day, and only counts those over it', async () => {
  const monitorId = await newMonitor();
  const { matches, outcomes } = await record(someOf(monitorId, CAP + CEILING + 25));
  expect(outcomes).toEqual({ recorded: CAP, suppressed: CEILING, not_stored: 25 });
  expect(matches.map(({ seq }) => seq)).toEqual(Array.from({ length: CAP + CEILING }, (_, index) => index + 1));
  const before = { stored: await storedOf(monitorId), lastSeq: await lastSeqOf(monitorId) };
  expect(before).toEqual({ stored: CAP + CEILING, lastSeq: CAP + CEILING });

  const more = someOf(monitorId, 2_000);
  expect(await record(more)).toEqual({ matches: [], outcomes: { not_stored: 2_000 } });
  // No content, match or number is stored, only the day's row and the counter.
  expect(await contentsOf(more)).toBe(0);
  expect({ stored: await storedOf(monitorId), lastSeq: await lastSeqOf(monitorId) }).toEqual(before);
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
  await database.moveToNoon(1);
  const nextDay = await record(batch);
  expect(nextDay.outcomes).toEqual({ repeated: CAP + CEILING, not_stored: 25 });
  expect(JSON.stringify(nextDay.matches)).toBe(JSON.stringify(first.matches));
  expect(await lastSeqOf(monitorId)).toBe(CAP + CEILING);
});

test.each([
  { change: 'a larger pack', apply: (id: string) => buyPack(id) },
  { change: 'a new day', apply: () => database.moveToNoon(1) },
])('$change between the first read and the lock loses no match', async ({ apply }) => {
  const monitorId = await newMonitor();
  await record(someOf(monitorId, CAP + CEILING + 1));
  const more = someOf(monitorId, 5, 1_000);
  const pool = interrupted('recording-find-suppressed-monitors', () => apply(monitorId));
  const { matches, outcomes } = await record(more, { pool });
  expect(outcomes).toEqual({ recorded: 5 });
  expect(matches.map(({ item }) => item)).toEqual(more.map(({ item }) => item));
  expect(await contentsOf(more)).toBe(5);
});

/** A comment per letter, in the thread that the letter names. */
const inThreads = (monitorId: string, letters: string, enteredAt?: string): Candidate[] =>
  Array.from(letters, (postId) =>
    candidateOf({ monitorId, thingId: newThing(), postId, ...(enteredAt ? { enteredAt } : {}) }),
  );

/** `.` a normal match, `t` suppressed for its thread, `c` suppressed by the cap; in the order of seq. */
async function codesOf(monitorId: string): Promise<string> {
  const { rows } = await database.pool.query<{ code: string }>(
    `SELECT CASE WHEN NOT suppressed THEN '.' WHEN suppressed_reason = 'thread_once' THEN 't'
                 WHEN suppressed_reason IS NULL THEN 'c' END AS code
     FROM matches WHERE monitor_id = $1 ORDER BY seq`,
    [monitorId],
  );
  return rows.map(({ code }) => code).join('');
}
test('the first match of a thread and day is sent, further ones are suppressed with the reason', async () => {
  const monitorId = await newMonitor(true);
  const { matches, outcomes } = await record(inThreads(monitorId, 'abab'));
  expect(outcomes).toEqual({ recorded: 2, suppressed: 2 });
  expect(matches.map((match) => recordedMatch.parse(match))).toEqual(matches);
  expect(matches.map((match) => [match.suppressed, match.suppressed_reason, match.first_delivery])).toEqual([
    [false, undefined, 'pending'],
    [false, undefined, 'pending'],
    [true, 'thread_once', 'skipped'],
    [true, 'thread_once', 'skipped'],
  ]);
  expect('suppressed_reason' in matches[0]!).toBe(false);
  await record(inThreads(monitorId, 'bca'));
  expect(await codesOf(monitorId)).toBe('..ttt.t');
  const page = await readMatchesAfter(database.pool, monitorId, 0, 10);
  expect(page.map(({ suppressedReason }) => suppressedReason)).toEqual(
    Array.from('..ttt.t', (code) => (code === 't' ? 'thread_once' : null)),
  );
});

test('a post and its comments are one thread', async () => {
  const monitorId = await newMonitor(true);
  const post = candidateOf({ monitorId, thingId: 't3_posta' });
  await record([...inThreads(monitorId, 'x'), post, candidateOf({ monitorId, thingId: newThing(), postId: 'posta' })]);
  expect(await codesOf(monitorId)).toBe('..t');
});

test('a thread has a match on the next day again; a clock that steps back changes nothing', async () => {
  const monitorId = await newMonitor(true);
  await record(inThreads(monitorId, 'aa'));
  await database.moveToNoon(1);
  await record(inThreads(monitorId, 'aab'));
  await database.moveToNoon(0);
  await record(inThreads(monitorId, 'abc'));
  expect(await codesOf(monitorId)).toBe('.t.t.tt.');
});

test('what is suppressed by the cap does not use up its thread', async () => {
  const monitorId = await newMonitor(true);
  await database.pool.query(
    `INSERT INTO monitor_days (monitor_id, day, matches) VALUES ($1, (service_now() AT TIME ZONE 'UTC')::date, $2)`,
    [monitorId, CAP - 1],
  );
  await record(inThreads(monitorId, 'abab'));
  expect(await codesOf(monitorId)).toBe('.ctc');
  await buyPack(monitorId);
  await record(inThreads(monitorId, 'ab'));
  expect(await codesOf(monitorId)).toBe('.ctct.');
});

test('over the ceiling repeats of a thread are only counted, without content, and no new thread is lost', async () => {
  const monitorId = await newMonitor(true);
  const now = Date.now();
  const at = (ms: number) => new Date(now + ms).toISOString();
  await record(inThreads(monitorId, 'aaaa'), { suppressedPerDay: 3 });
  const repeats = inThreads(monitorId, 'aa', at(1));
  expect((await record(repeats, { suppressedPerDay: 3 })).outcomes).toEqual({ not_stored: 2 });
  const { rows } = await database.pool.query('SELECT FROM matched_items WHERE thing_id = ANY ($1)', [
    repeats.map(({ item }) => item.thing_id),
  ]);
  expect(rows).toHaveLength(0);
  // It entered before those that were not stored.
  expect((await record(inThreads(monitorId, 'b', at(-1_000)), { suppressedPerDay: 3 })).outcomes).toEqual({
    recorded: 1,
  });

  // Read again on the next day, when their thread has no match yet.
  await database.moveToNoon(1);
  expect((await record(repeats, { suppressedPerDay: 3 })).outcomes).toEqual({ not_stored: 2 });
  expect((await record(inThreads(monitorId, 'a', at(2)), { suppressedPerDay: 3 })).outcomes).toEqual({ recorded: 1 });
  expect(await codesOf(monitorId)).toBe('.ttt..');
});
