import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { DECISION_CASES } from '../../unit/shared/domain/recording-decision.cases.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

let things = 0;

// The decision does not depend on the time of day, so the cases may have any time.
const ACTIVE_SINCE = Date.parse('2026-01-01T12:00:00.000Z');
const at = (offset: number) => new Date(ACTIVE_SINCE + offset).toISOString();

test.each(DECISION_CASES)('state at entering: $name (tolerance $tolerance): $expected', async (given) => {
  const { status = 'active', version = 1, tolerance = 0 } = given;
  const [monitorId] = (await insertMonitors(database.pool, 1, {
    status: status === 'gone' ? 'active' : status,
    version,
    activeSince: at(0),
  })) as [string];
  if (status === 'gone') await database.pool.query('DELETE FROM monitor_counters WHERE monitor_id = $1', [monitorId]);
  await database.pool.query('DELETE FROM monitor_versions WHERE monitor_id = $1', [monitorId]);
  if (given.muted) {
    await database.pool.query(
      `INSERT INTO monitor_mutes (id, monitor_id, kind, value) VALUES ('mute_' || $1, $1, 'subreddit', 'metals')`,
      [monitorId],
    );
  }
  for (const [begun, offset] of Object.entries(given.starts ?? {})) {
    await database.pool.query('INSERT INTO monitor_versions VALUES ($1, $2, $3)', [monitorId, begun, at(offset)]);
  }
  const candidate = candidateOf({
    monitorId,
    thingId: `t1_d${(things++).toString(36)}`,
    version: given.candidateVersion ?? 1,
    enteredAt: at(given.entered),
    createdUtc: at(given.created ?? given.entered),
    replay: given.replay ?? false,
  });
  const { matches, outcomes } = await recordBatch({ pool: database.pool, toleranceMs: tolerance }, [candidate]);
  expect(outcomes).toEqual({ [given.expected ?? 'recorded']: 1 });
  expect(matches).toHaveLength(given.expected ? 0 : 1);
});
