import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Candidate } from '../../../schemas/messages/monitor-match.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { readMatchesAfter } from '../../../shared/matches/match-pages.ts';
import { insertMonitorVersion, stopMonitor } from '../../../shared/monitors/monitors.ts';
import { lockRecordingMonitors } from '../../../shared/matches/recording.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const NEW_RULE = { keywords: ['go'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };

const record = (candidates: Candidate[]) => recordBatch({ pool: database.pool, toleranceMs: 0 }, candidates);

let things = 0;
const newThing = () => `t1_c${(things++).toString(36)}`;

/** Records the batches of several recorders: the recorders run concurrently, each one records its batches in order. */
async function recordAll(recorders: Candidate[][][]): Promise<void> {
  await Promise.all(
    recorders.map(async (batches) => {
      for (const batch of batches) await record(batch);
    }),
  );
}

interface Tally {
  last_seq: number;
  seqs: number[] | null;
  counted: number;
  suppressed: number;
  stored_suppressed: number;
}

async function tallyOf(monitorId: string): Promise<Tally> {
  const { rows } = await database.pool.query<Tally>(
    `SELECT c.last_seq,
       (SELECT array_agg(seq::integer ORDER BY seq) FROM matches WHERE monitor_id = $1) AS seqs,
       (SELECT coalesce(sum(matches), 0) FROM monitor_days WHERE monitor_id = $1) AS counted,
       (SELECT coalesce(sum(suppressed), 0) FROM monitor_days WHERE monitor_id = $1) AS suppressed,
       (SELECT count(*) FROM matches WHERE monitor_id = $1 AND suppressed) AS stored_suppressed
     FROM monitor_counters c WHERE c.monitor_id = $1`,
    [monitorId],
  );
  return rows[0]!;
}

async function expectNumbered(monitorId: string, matches: number): Promise<void> {
  const tally = await tallyOf(monitorId);
  expect(tally.seqs ?? []).toEqual(Array.from({ length: matches }, (_, index) => index + 1));
  expect(tally.last_seq).toBe(matches);
  expect(tally.suppressed).toBe(tally.stored_suppressed);
  expect(tally.counted + tally.suppressed).toBe(matches);
}

test('concurrent recorders, in any order and with repeats, leave no hole, duplicate or deadlock, and send one match of a thread where that is asked for', async () => {
  const batches = fc.array(fc.array(fc.record({ monitor: fc.nat(4), thing: fc.nat(30) }), { maxLength: 25 }), {
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(batches, { minLength: 2, maxLength: 4 }), async (plan) => {
      const once = await insertMonitors(database.pool, 2, { threadOnce: true });
      const monitors = [...once, ...(await insertMonitors(database.pool, 3))];
      const offset = things;
      things += 31;
      const recorders = plan.map((ofRecorder) =>
        ofRecorder.map((batch) =>
          batch.map(({ monitor, thing }) =>
            candidateOf({
              monitorId: monitors[monitor]!,
              thingId: `t1_c${(offset + thing).toString(36)}`,
              postId: `p${thing % 6}`,
            }),
          ),
        ),
      );
      await recordAll(recorders);
      for (const monitorId of monitors) {
        const items = recorders.flat(2).flatMap(({ monitor_id, item }) => (monitor_id === monitorId ? [item] : []));
        const pairs = new Set(items.map(({ thing_id }) => thing_id)).size;
        await expectNumbered(monitorId, pairs);
        const threads = new Set(items.map(({ post_id }) => post_id)).size;
        expect((await tallyOf(monitorId)).counted).toBe(once.includes(monitorId) ? threads : pairs);
      }
    }),
    { numRuns: 30 },
  );
});

test('the daily cap is exact while several recorders reach it together', async () => {
  await database.moveToNoon(0);
  onTestFinished(() => database.setShift('0'));
  const [monitorId] = (await insertMonitors(database.pool, 1)) as [string];
  const recorders = Array.from({ length: 4 }, () =>
    Array.from({ length: 8 }, () => Array.from({ length: 10 }, () => candidateOf({ monitorId, thingId: newThing() }))),
  );
  await recordAll(recorders);
  await expectNumbered(monitorId, 320);
  expect((await tallyOf(monitorId)).suppressed).toBe(120);
});

test('recorders that store a thing at the same time publish the same content', async () => {
  for (let round = 0; round < 10; round += 1) {
    const monitors = await insertMonitors(database.pool, 4);
    const thingId = newThing();
    const recorded = await Promise.all(
      monitors.map((monitorId, index) => record([candidateOf({ monitorId, thingId, body: `copy ${index}` })])),
    );
    const { rows } = await database.pool.query<{ body: string }>('SELECT body FROM matched_items WHERE thing_id = $1', [
      thingId,
    ]);
    expect(recorded.map(({ matches }) => matches[0]!.item.body)).toEqual(Array(4).fill(rows[0]!.body));
  }
});

test('a client that reads pages while recorders write misses nothing and sees nothing twice', async () => {
  const monitors = await insertMonitors(database.pool, 3, { pack: 79 });
  const perMonitor = 600;
  const all = Array.from({ length: perMonitor }, newThing).flatMap((thingId) =>
    monitors.map((monitorId) => candidateOf({ monitorId, thingId })),
  );
  // Every candidate goes to two of the four recorders, which use different batch sizes.
  const recorders = [7, 20, 45, 64].map((size, index) => {
    const own = all.filter((_, place) => place % 4 === index || (place + 1) % 4 === index);
    return Array.from({ length: Math.ceil(own.length / size) }, (_, k) => own.slice(k * size, (k + 1) * size));
  });
  const writing = recordAll(recorders);
  const seen = await Promise.all(monitors.map((monitorId) => pollAll(monitorId, perMonitor)));
  await writing;
  for (const pages of seen) {
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.flat().map((match) => match.seq)).toEqual(Array.from({ length: perMonitor }, (_, k) => k + 1));
    expect(new Set(pages.flat().map((match) => match.thingId)).size).toBe(perMonitor);
  }
});

async function pollAll(monitorId: string, until: number) {
  const pages: Awaited<ReturnType<typeof readMatchesAfter>>[] = [];
  const deadline = Date.now() + 100_000;
  let after = 0;
  let read = 0;
  while (read < until && Date.now() < deadline) {
    const page = await readMatchesAfter(database.pool, monitorId, after, 100);
    if (page.length === 0) {
      await wait(10);
      continue;
    }
    pages.push(page);
    read += page.length;
    after = page.at(-1)!.seq;
  }
  return pages;
}

/** Backend pids of recorders that wait for a monitor's lock. */
async function waitingRecorders(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM monitor_counters%'`,
  );
  return rows.map((row) => row.pid);
}

/** Starts a recorder while another transaction has locked the monitor and changes it. */
async function recordDuring<T>(
  monitorId: string,
  change: (db: Queryable) => Promise<T>,
  candidates: () => Candidate[],
): Promise<{ recorded: Awaited<ReturnType<typeof record>>; changed: T }> {
  let recording: ReturnType<typeof record> | undefined;
  const changed = await inTransaction(database.pool, async (client) => {
    await lockRecordingMonitors(client, [monitorId]);
    recording = record(candidates());
    await eventually('it waits', async () => (await waitingRecorders()).length === 1);
    return change(client);
  });
  return { recorded: await recording!, changed };
}

test('a rule that changes while the recorder waits: only items that entered before the change match the old rule', async () => {
  const [monitorId] = (await insertMonitors(database.pool, 1)) as [string];
  const patch = async (db: Queryable) => {
    await db.query('UPDATE monitors SET version = 2 WHERE id = $1', [monitorId]);
    await insertMonitorVersion(db, monitorId, 2, NEW_RULE);
  };
  const before = newThing();
  const after = newThing();
  const byNewRule = newThing();
  const soon = new Date(Date.now() + 60_000).toISOString();
  const { recorded } = await recordDuring(monitorId, patch, () => [
    candidateOf({ monitorId, thingId: before }),
    candidateOf({ monitorId, thingId: after, enteredAt: soon }),
    candidateOf({ monitorId, thingId: byNewRule, version: 2, enteredAt: soon }),
  ]);
  expect(recorded.outcomes).toEqual({ recorded: 2, rule_changed: 1 });
  expect(recorded.matches.map((match) => match.item.thing_id)).toEqual([before, byNewRule]);
});

test.each(['paused', 'deleted'] as const)(
  'a monitor that is %s while the recorder waits gets no match',
  async (status) => {
    const [monitorId] = (await insertMonitors(database.pool, 1)) as [string];
    const { recorded } = await recordDuring(
      monitorId,
      (db) => stopMonitor(db, monitorId, status),
      () => [candidateOf({ monitorId, thingId: newThing() })],
    );
    expect(recorded).toEqual({ matches: [], outcomes: { monitor_inactive: 1 } });
  },
);

test('a pair that another recorder stores during the wait is published as stored', async () => {
  const [monitorId] = (await insertMonitors(database.pool, 1)) as [string];
  const thingId = newThing();
  const { recorded } = await recordDuring(
    monitorId,
    async (db) => {
      await db.query(
        `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
           suppressed, first_delivery, delivery_status)
         VALUES ($1, 1, $2, 'comment', now(), now(), now(), '{theirs}', false, 'none', 'none')`,
        [monitorId, thingId],
      );
      await db.query('UPDATE monitor_counters SET last_seq = 1 WHERE monitor_id = $1', [monitorId]);
    },
    () => [candidateOf({ monitorId, thingId, terms: ['ours'] })],
  );
  expect(recorded.outcomes).toEqual({ repeated: 1 });
  expect(recorded.matches[0]).toMatchObject({ seq: 1, matched_terms: ['theirs'] });
});

test('a lost connection in the transaction stores nothing, is retryable, and the retry leaves no hole', async () => {
  const [monitorId] = (await insertMonitors(database.pool, 1)) as [string];
  const batch = Array.from({ length: 5 }, () => candidateOf({ monitorId, thingId: newThing() }));
  let failure: Promise<unknown> | undefined;
  await inTransaction(database.pool, async (client) => {
    await lockRecordingMonitors(client, [monitorId]);
    failure = record(batch).catch((error: unknown) => error);
    const pids = await eventually('it waits', async () => {
      const found = await waitingRecorders();
      return found.length === 1 && found;
    });
    await client.query('SELECT pg_terminate_backend($1)', pids);
  });
  expect(isPostgresUnavailable(await failure)).toBe(true);
  await expectNumbered(monitorId, 0);
  expect((await record(batch)).outcomes).toEqual({ recorded: 5 });
  await expectNumbered(monitorId, 5);
});
