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
  // An item that comes while a monitor is created may be a candidate twice, by the ring and by itself.
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

describe('a rebalance', () => {
  /** With this clock a listener keeps its connection. With a new one it would find changes that were not announced. */
  const standing = () => 0;

  const RUST = Array.from({ length: 8 }, () => 'rust');
  const first = (names: string[]) => names.map((name) => `1 ${name}`);
  const second = (names: string[]) => names.map((name) => `2 ${name}`);

  test('the next owner finds for new and changed monitors the items that the previous owner committed without knowing, each once', async () => {
    const [known, changed] = (await insertMonitors(matchers.db.pool, 2)) as [string, string];
    const before = await matchers.start({ clock: standing });
    const early = await matchers.say(...RUST);
    await matchers.consumed();
    const created = await matchers.createSilently();
    await matchers.changeSilently(changed, ['rust', 'iron']);
    const late = await matchers.say(...RUST);
    await matchers.consumed();
    expect(await matchers.candidatesOf(created)).toEqual([]);
    const committed = await matchers.committed();
    await before.stop();

    await matchers.start();
    await matchers.expectCandidates(created, first(late));
    await matchers.expectCandidates(changed, [...first([...early, ...late]), ...second(late)]);
    const latest = await matchers.say(...RUST);
    await matchers.consumed();
    await matchers.expectCandidates(created, first([...late, ...latest]));
    await matchers.expectCandidates(changed, [...first([...early, ...late]), ...second([...late, ...latest])]);
    await matchers.expectCandidates(known, first([...early, ...late, ...latest]));
    for (const [partition, offset] of Object.entries(await matchers.committed())) {
      expect(BigInt(offset), 'a refill commits nothing').toBeGreaterThanOrEqual(BigInt(committed[partition]!));
    }
  });

  test('changes that are announced after a rebalance emptied the ring still find all items', async () => {
    const [changed] = (await insertMonitors(matchers.db.pool, 1)) as [string];
    await matchers.start();
    const created = await matchers.createSilently();
    await matchers.changeSilently(changed, ['rust', 'iron']);
    const names = await matchers.say(...RUST);
    await matchers.consumed();
    await matchers.start();
    for (const id of [created, changed]) await matchers.announce(id);
    await matchers.expectCandidates(created, first(names));
    await matchers.expectCandidates(changed, [...first(names), ...second(names)]);
  });

  test('commits nothing while a change cannot be read, stops without hanging, and the next owner applies the change', async () => {
    const proxy = await TcpProxy.start(matchers.db.url);
    matchers.onDrop(() => proxy.stop());
    const before = await matchers.start({ poolUrl: proxy.url });
    await matchers.say(...RUST);
    await matchers.consumed();
    const committed = await matchers.committed();
    proxy.goAway();
    const created = await matchers.createSilently();
    await matchers.announce(created);
    // Items that arrive before the notification may be committed: the next owner scans them again.
    await eventually('the matcher has the notification and tries to read the monitor', () => proxy.refused > 0);
    const names = await matchers.say(...RUST);
    // The listener's own connection works, so consumption is not paused; it waits for the change.
    await eventually('the items are matched', async () => {
      const { values } = await matchers.kafka.metrics.matcherItems.get();
      return values.reduce((sum, { value }) => sum + value, 0) > RUST.length;
    });
    await before.stop();
    expect(await matchers.committed()).toEqual(committed);
    await matchers.start();
    await matchers.expectCandidates(created, first(names));
  });
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
