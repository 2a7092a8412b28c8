import { expect, test } from 'vitest';
import { findStoredMatches } from '../../../shared/stores/matches/recording-matches.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';

test('the lookup that was planned while there were no matches does not read all of them later', async () => {
  const database = await createTestDatabase();
  const db = await database.pool.connect();
  try {
    const [monitorId] = await insertMonitors(database.pool, 1);
    const pairs = Array.from({ length: 500 }, (_, number) => ({ monitorId: monitorId!, thingId: `t1_${number}` }));
    // Postgres keeps a plan after five executions.
    for (let execution = 0; execution < 6; execution++) expect(await findStoredMatches(db, pairs)).toEqual([]);
    await db.query(
      `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
         suppressed, first_delivery, delivery_status)
       SELECT $1, number, 't1_' || number, 'comment', now(), now(), now(), '{rust}', false, 'none', 'none'
       FROM generate_series(1, 2000) AS number`,
      [monitorId],
    );
    const { rows } = await db.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN EXECUTE "recording-find-stored-matches" (ARRAY['${monitorId}'], ARRAY['t1_1'])`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toContain('Seq Scan');
    expect(plan).toContain('matches_monitor_id_thing_id_key');
    expect(await findStoredMatches(db, pairs)).toHaveLength(499);
  } finally {
    db.release();
    await database.drop();
  }
});
