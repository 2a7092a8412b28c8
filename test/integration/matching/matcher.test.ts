import { afterEach, beforeEach, expect, test, describe } from 'vitest';
import { eventually } from '../../support/fixtures/eventually.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { MatcherFixture } from '../../support/fixtures/matcher-fixture.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';

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

test('created, changed, paused, deleted and resumed monitors count from then on', async () => {
  const api = await startTestApi(matchers.db.pool);
  matchers.onDrop(() => api.stop());
  const { apiKey: key } = await api.account();
  await matchers.start();
  await matchers.say('rust, too early');
  await matchers.consumed();
  const { id } = await api.monitor(key, { keywords: ['rust'] });
  const gone = await api.monitor(key, { keywords: ['rust'] });
  const [inTime] = await matchers.say('rust, in time');
  // An item that comes while a monitor is created may be a candidate twice, by the recent items and by itself.
  const expectDistinct = (monitor: string, names: string[]) =>
    eventually(
      'the candidates',
      async () => [...new Set(await matchers.candidatesOf(monitor))].join() === names.join(),
    );
  for (const monitor of [id, gone.id]) await expectDistinct(monitor, [`1 ${inTime!}`]);

  await api.call(key, 'PATCH', `/v1/monitors/${id}`, { keywords: ['coffee'] });
  const [changed] = await matchers.say('coffee');
  await expectDistinct(id, [`1 ${inTime!}`, `2 ${changed!}`]);

  await api.call(key, 'POST', `/v1/monitors/${id}/pause`);
  await api.call(key, 'DELETE', `/v1/monitors/${gone.id}`);
  const all = async () => [...(await matchers.candidatesOf(id)), ...(await matchers.candidatesOf(gone.id))].join();
  await eventually('both monitors are removed', async () => {
    const before = await all();
    await matchers.say('rust and coffee, for nobody');
    await matchers.consumed();
    return (await all()) === before;
  });
  await api.call(key, 'POST', `/v1/monitors/${id}/resume`);
  const [again] = await matchers.say('coffee again');
  await eventually('the resumed one matches', async () => (await matchers.candidatesOf(id)).includes(`2 ${again!}`));
});

test('loads and updates monitors that have more bytes than one statement reads', async () => {
  // 60 KB each, like the largest rules: about nine a page of half a megabyte.
  const ids = await insertMonitors(matchers.db.pool, 12);
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

test('each of two shards matches its own monitors, together all of them', async () => {
  const ids = await insertMonitors(matchers.db.pool, 12);
  const shards = [
    { shard: 1, shards: 2 },
    { shard: 2, shards: 2 },
  ];
  const [first] = [await matchers.start({ shard: shards[0]! }), await matchers.start({ shard: shards[1]! })];
  const [both] = await matchers.say('rust');
  for (const id of ids) await matchers.expectCandidates(id, [`1 ${both!}`]);
  await first.stop();
  const [alone] = await matchers.say('rust again');
  await matchers.consumed(shards[1]);
  const found = await Promise.all(ids.map((id) => matchers.candidatesOf(id)));
  const served = found.filter((candidates) => candidates.includes(`1 ${alone!}`)).length;
  expect(served).toBeGreaterThan(0);
  expect(served).toBeLessThan(ids.length);
});

describe('a lost connection', () => {
  async function isPaused(): Promise<boolean> {
    const { values } = await matchers.kafka.metrics.matcherPaused.get();
    return values[0]?.value === 1;
  }

  test('after a lost connection matches nothing until the comparison is done, then misses nothing', async () => {
    const [toListener, toPool] = [await TcpProxy.start(matchers.db.url), await TcpProxy.start(matchers.db.url)];
    matchers.onDrop(() => Promise.all([toListener.stop(), toPool.stop()]));
    let now = Date.now();
    const matcher = await matchers.start({ listenerUrl: toListener.url, poolUrl: toPool.url, clock: () => now });
    expect(await isPaused()).toBe(false);

    toListener.freeze();
    toPool.freeze();
    now += 6_000;
    await eventually('it pauses', isPaused);
    expect(matcher.ready()).toBe(false);
    const created = await matchers.createSilently();
    const names = await matchers.say('rust', 'rust', 'rust', 'rust');
    toListener.thaw();
    // The connection listens and has sent its echo; the comparison still hangs.
    await eventually('it is connected', async () => {
      const { rowCount } = await matchers.db.pool.query(
        `SELECT 1 FROM pg_stat_activity WHERE application_name = 'matcher-listener' AND datname = current_database()
          AND state = 'idle' AND query ~ 'pg_notify'`,
      );
      return rowCount === 1;
    });
    expect(await isPaused()).toBe(true);
    expect(Object.values(await matchers.committed())).toEqual(['-1', '-1']);

    toPool.thaw();
    await matchers.expectCandidates(
      created,
      names.map((name) => `1 ${name}`),
    );
    await matchers.consumed();
    expect(await isPaused()).toBe(false);
  });
});
