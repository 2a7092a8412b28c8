import { afterAll, beforeAll, expect, test } from 'vitest';
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { recordRemovals } from '../../../shared/stores/crawl/removals.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { counted } from '../../support/fixtures/crawler-fixture.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const metrics = createMetrics();

function sweep(signal = new AbortController().signal): Promise<void> {
  return sweepRetention({ pool: db.pool, metrics, signal, mayContinue: () => Promise.resolve(true) });
}

async function count(table: string): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(`SELECT count(*) FROM ${table}`);
  return rows[0]!.count;
}

async function record(monitorId: string, ...things: string[]): Promise<number[]> {
  const candidates = things.map((thingId) => candidateOf({ monitorId, thingId }));
  const { matches } = await recordBatch({ pool: db.pool, toleranceMs: 0 }, candidates);
  return matches.map(({ seq }) => seq);
}

/** Stores 12,000 matches with one attempt each, as the recorder and the deliverer do. */
async function fill(monitorId: string): Promise<void> {
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT $1, n, 't1_x' || n, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'none', 'none'
       FROM generate_series(1, 12000) AS n`,
    [monitorId],
  );
  await db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
     SELECT $1, n, 1, service_now(), 1, 'generic', 'h', 200, 'delivered' FROM generate_series(1, 12000) AS n`,
    [monitorId],
  );
  await db.pool.query('UPDATE monitor_counters SET last_seq = 12000 WHERE monitor_id = $1', [monitorId]);
}

test('deletes matches, attempts and contents after 30 days, keeps newer ones and continues the numbering', async () => {
  const [kept, deleted] = (await insertMonitors(db.pool, 2)) as [string, string];
  await fill(kept);
  await record(deleted, 't1_d');
  await db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [deleted]);
  await recordRemovals(db.pool, ['t1_gone'], [new Date().toISOString()]);

  await sweep();
  expect(await count('matches')).toBe(12_001);

  await db.setShift('29 days');
  expect(await record(kept, 't1_new')).toEqual([12_001]);
  await sweep();
  expect(await count('matches')).toBe(12_002);

  await db.setShift('31 days');
  await sweep();
  const { rows } = await db.pool.query('SELECT monitor_id, seq, thing_id FROM matches');
  expect(rows).toEqual([{ monitor_id: kept, seq: 12_001, thing_id: 't1_new' }]);
  expect(await count('delivery_attempts')).toBe(0);
  expect(await counted(metrics, 'retention_deleted_rows_total', { table: 'matches' })).toBe(12_001);
  // The lock row of the deleted monitor is deleted with its last match. That of the other monitor stays.
  expect(await count('monitor_counters')).toBe(1);
  expect(await count('removed_things')).toBe(1);

  await db.setShift('34 days');
  await sweep();
  const contents = await db.pool.query('SELECT thing_id FROM matched_items');
  expect(contents.rows).toEqual([{ thing_id: 't1_new' }]);

  await db.setShift('91 days');
  await sweep();
  expect([await count('matches'), await count('matched_items'), await count('removed_things')]).toEqual([0, 0, 0]);
  expect(await record(kept, 't1_newest')).toEqual([12_002]);
});
