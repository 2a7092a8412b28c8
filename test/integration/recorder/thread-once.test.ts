import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Candidate } from '../../../schemas/messages/candidate.ts';
import { recordedMatch } from '../../../schemas/messages/recorded-match.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { SUPPRESSED_PER_DAY } from '../../../shared/domain/match-numbering.ts';
import { readMatchesAfter } from '../../../shared/stores/matches/match-pages.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** The daily cap of a free account. */
const CAP = 200;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.moveToNoon(0));

const record = (candidates: Candidate[], suppressedPerDay = SUPPRESSED_PER_DAY) =>
  recordBatch({ pool: database.pool, toleranceMs: 0, suppressedPerDay }, candidates);

let things = 0;
const newThing = () => `t1_o${(things++).toString(36)}`;

async function newMonitor(setup: { threadOnce?: boolean; pack?: number } = {}): Promise<string> {
  const all = { threadOnce: true, webhookUrl: 'https://example.com/', ...setup };
  return (await insertMonitors(database.pool, 1, all))[0]!;
}

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
async function threadsOf(monitorId: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ thread: string }>(
    'SELECT post_id AS thread FROM monitor_threads WHERE monitor_id = $1 ORDER BY day, post_id',
    [monitorId],
  );
  return rows.map(({ thread }) => thread);
}

test('the first match of a thread and day is sent, further ones are suppressed with the reason', async () => {
  const monitorId = await newMonitor();
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
  const monitorId = await newMonitor();
  const post = candidateOf({ monitorId, thingId: 't3_posta' });
  await record([...inThreads(monitorId, 'x'), post, candidateOf({ monitorId, thingId: newThing(), postId: 'posta' })]);
  expect(await codesOf(monitorId)).toBe('..t');
});

test('a thread has a match on the next day again; a clock that steps back changes nothing', async () => {
  const monitorId = await newMonitor();
  await record(inThreads(monitorId, 'aa'));
  await database.moveToNoon(1);
  await record(inThreads(monitorId, 'aab'));
  await database.moveToNoon(0);
  await record(inThreads(monitorId, 'abc'));
  expect(await codesOf(monitorId)).toBe('.t.t.tt.');
});

test('what is suppressed by the cap does not use up its thread', async () => {
  const monitorId = await newMonitor();
  await database.pool.query(
    `INSERT INTO monitor_days (monitor_id, day, matches) VALUES ($1, (service_now() AT TIME ZONE 'UTC')::date, $2)`,
    [monitorId, CAP - 1],
  );
  await record(inThreads(monitorId, 'abab'));
  expect(await codesOf(monitorId)).toBe('.ctc');
  await database.pool.query('UPDATE accounts SET pack = 9 WHERE id = (SELECT account_id FROM monitors WHERE id = $1)', [
    monitorId,
  ]);
  await record(inThreads(monitorId, 'ab'));
  expect(await codesOf(monitorId)).toBe('.ctct.');
});

test('a repeat publishes the same bytes and changes nothing, also on a later day', async () => {
  const monitorId = await newMonitor();
  const batch = inThreads(monitorId, 'abcab');
  const first = await record(batch);
  const again = await record([...batch.toReversed(), ...batch]);
  await database.moveToNoon(1);
  const later = await record(batch);
  for (const repeat of [again, later]) {
    expect(repeat.matches.map((match) => JSON.stringify(match))).toEqual(
      first.matches.map((match) => JSON.stringify(match)),
    );
  }
  expect([await codesOf(monitorId), (await threadsOf(monitorId)).length]).toEqual(['...tt', 3]);
});

test('over the ceiling repeats of a thread are only counted, without content, and no new thread is lost', async () => {
  const monitorId = await newMonitor();
  const now = Date.now();
  const at = (ms: number) => new Date(now + ms).toISOString();
  await record(inThreads(monitorId, 'aaaa'), 3);
  const repeats = inThreads(monitorId, 'aa', at(1));
  expect((await record(repeats, 3)).outcomes).toEqual({ not_stored: 2 });
  const { rows } = await database.pool.query('SELECT FROM matched_items WHERE thing_id = ANY ($1)', [
    repeats.map(({ item }) => item.thing_id),
  ]);
  expect(rows).toHaveLength(0);
  // It entered before those that were not stored.
  expect((await record(inThreads(monitorId, 'b', at(-1_000)), 3)).outcomes).toEqual({ recorded: 1 });

  // Read again on the next day, when their thread has no match yet.
  await database.moveToNoon(1);
  expect((await record(repeats, 3)).outcomes).toEqual({ not_stored: 2 });
  expect((await record(inThreads(monitorId, 'a', at(2)), 3)).outcomes).toEqual({ recorded: 1 });
  expect(await codesOf(monitorId)).toBe('.ttt..');
});

test('concurrent recorders, in any order and with repeats, send exactly one match of each thread', async () => {
  const plan = fc.array(
    fc.array(fc.array(fc.record({ monitor: fc.nat(3), thing: fc.nat(24) }), { maxLength: 25 }), { maxLength: 5 }),
    { minLength: 2, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(plan, async (recorders) => {
      const once = await insertMonitors(database.pool, 3, { threadOnce: true });
      const monitors = [...once, await newMonitor({ threadOnce: false })];
      const first = things;
      things += 25;
      const all = recorders.map((batches) =>
        batches.map((batch) =>
          batch.map(({ monitor, thing }) =>
            candidateOf({
              monitorId: monitors[monitor]!,
              thingId: `t1_o${(first + thing).toString(36)}`,
              postId: `p${thing % 6}`,
            }),
          ),
        ),
      );
      await Promise.all(
        all.map(async (batches) => {
          for (const batch of batches) await record(batch);
        }),
      );
      for (const [index, monitorId] of monitors.entries()) {
        const items = all.flat(2).filter((candidate) => candidate.monitor_id === monitorId);
        const pairs = new Set(items.map(({ item }) => item.thing_id)).size;
        const threads = new Set(items.map(({ item }) => item.post_id)).size;
        const codes = Array.from(await codesOf(monitorId));
        expect(codes).toHaveLength(pairs);
        expect(codes.filter((code) => code === '.')).toHaveLength(index < 3 ? threads : pairs);
        expect(await threadsOf(monitorId)).toHaveLength(index < 3 ? threads : 0);
      }
    }),
    { numRuns: 30 },
  );
});
