import { afterEach, beforeEach, expect, test } from 'vitest';
import { MATCHER_GROUP } from '../../../schemas/messages/consumer-groups.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { MatcherFixture } from '../../support/fixtures/matcher-fixture.ts';

let matchers: MatcherFixture;
beforeEach(async () => {
  matchers = await MatcherFixture.create();
});
afterEach(() => matchers.drop());

test('a matcher joins its group only after it loaded all monitors, then matches the waiting items', async () => {
  const ids = await insertMonitors(matchers.db.pool, 3);
  const names = await matchers.say('rust', 'iron', 'rust');
  const blocking = await matchers.db.pool.connect();
  await blocking.query('BEGIN');
  await blocking.query('LOCK TABLE monitors IN ACCESS EXCLUSIVE MODE');
  const starting = matchers.start();
  await eventually('it waits for the monitors', async () => {
    const { rowCount } = await matchers.db.pool.query(
      `SELECT 1 FROM pg_stat_activity
        WHERE application_name = 'matcher' AND datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rowCount === 1;
  });
  const { groups } = await matchers.kafka.kafka.withAdmin((admin) => admin.listGroups());
  expect(groups.map(({ groupId }) => groupId)).not.toContain(matchers.kafka.prefix + MATCHER_GROUP);
  await blocking.query('COMMIT');
  blocking.release();
  await starting;
  for (const id of ids) await matchers.expectCandidates(id, [`1 ${names[0]!}`, `1 ${names[2]!}`]);
});
