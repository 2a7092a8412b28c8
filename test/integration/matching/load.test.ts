import { afterEach, beforeEach, expect, test } from 'vitest';
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
  expect(groups.map(({ groupId }) => groupId)).not.toContain(matchers.kafka.prefix + 'matcher');
  await blocking.query('COMMIT');
  blocking.release();
  await starting;
  for (const id of ids) await matchers.expectCandidates(id, [`1 ${names[0]!}`, `1 ${names[2]!}`]);
});

test('loads and updates monitors that have more bytes than one statement reads', async () => {
  // 60 KB each, like the largest rules: about nine a page of half a megabyte.
  const ids = await insertMonitors(matchers.db.pool, 30);
  const makeLarge = (word: string) =>
    matchers.db.pool.query(`UPDATE monitors SET keywords = ARRAY[$1, repeat('x', 60000)], version = version + 1`, [
      word,
    ]);
  await makeLarge('rust');
  await matchers.start();
  const [first] = await matchers.say('rust');
  for (const id of ids) await matchers.expectCandidates(id, [`2 ${first!}`]);
  await makeLarge('iron');
  const [paused] = ids;
  await matchers.db.pool.query(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [paused]);
  for (const id of ids) await matchers.announce(id);
  const probe = await matchers.createSilently();
  await matchers.announce(probe);
  await eventually('the changes are applied', async () => {
    const [name] = await matchers.say('rust');
    await matchers.consumed();
    const found = await Promise.all([probe, ...ids].map((id) => matchers.candidatesOf(id)));
    const isIn = found.map((names) => names.some((candidate) => candidate.endsWith(` ${name!}`)));
    return isIn[0] && !isIn.slice(1).includes(true);
  });
  const [last] = await matchers.say('iron');
  await matchers.consumed();
  const found = await Promise.all(ids.map((id) => matchers.candidatesOf(id)));
  expect(found.map((names) => names.includes(`3 ${last!}`))).toEqual(ids.map((id) => id !== paused));
});
