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
