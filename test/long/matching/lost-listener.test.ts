import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/fixtures/eventually.ts';
import { MatcherFixture } from '../../support/fixtures/matcher-fixture.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';

let matchers: MatcherFixture;
beforeEach(async () => {
  matchers = await MatcherFixture.create();
});
afterEach(() => matchers.drop());

async function isPaused(): Promise<boolean> {
  const { values } = await matchers.kafka.metrics.matcherPaused.get();
  return values[0]?.value === 1;
}

test('matches nothing when the new connection is lost before the comparison is done', async () => {
  const [toListener, toPool] = [await TcpProxy.start(matchers.db.url), await TcpProxy.start(matchers.db.url)];
  matchers.onDrop(() => Promise.all([toListener.stop(), toPool.stop()]));
  let now = Date.now();
  await matchers.start({ listenerUrl: toListener.url, poolUrl: toPool.url, clock: () => now });
  const listeners = async () => {
    const { rowCount } = await matchers.db.pool.query(
      `SELECT 1 FROM pg_stat_activity
        WHERE application_name = 'matcher-listener' AND datname = current_database() AND query ~ 'pg_notify'`,
    );
    return rowCount;
  };

  toPool.freeze();
  toListener.goAway();
  now += 6_000;
  await eventually('it pauses', isPaused);
  const created = await matchers.createSilently();
  const names = await matchers.say('rust', 'rust');
  toListener.comeBack();
  await eventually('it is connected and compares', async () => (await listeners()) === 1);
  toListener.goAway();
  await eventually('the connection is lost again', async () => (await listeners()) === 0);
  toPool.thaw();
  await eventually('it has compared', async () => {
    const { values } = await matchers.kafka.metrics.matcherMonitors.get();
    return values[0]?.value === 1;
  });
  expect(await isPaused()).toBe(true);
  expect(Object.values(await matchers.committed())).toEqual(['-1', '-1']);

  toListener.comeBack();
  await matchers.expectCandidates(
    created,
    names.map((name) => `1 ${name}`),
  );
});
