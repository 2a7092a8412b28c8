import { expect, test } from 'vitest';
import { ActiveMonitors } from '../../../../services/matcher/active-monitors.ts';
import { MonitorChanges } from '../../../../services/matcher/monitor-changes.ts';
import { RecentItems } from '../../../../services/matcher/recent-items.ts';
import type { Queryable } from '../../../../shared/postgres/pool.ts';
import { CooperativeYield } from '../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

/** Changes over a database whose answers wait until they are released. */
function changesOverSlowDatabase() {
  const asked: (() => void)[] = [];
  const query = () =>
    new Promise((resolve) => {
      asked.push(() => {
        resolve({ rows: [{ page: [] }] });
      });
    });
  const changes = new MonitorChanges({
    db: { query } as unknown as Queryable,
    monitors: new ActiveMonitors(),
    recent: new RecentItems(),
    toleranceMs: 0,
    publish: () => Promise.resolve(),
    cooperativeYield: new CooperativeYield(),
    logger: silentLogger(),
    fatal: (error) => {
      throw error;
    },
  });
  return { changes, asked };
}

const { signal } = new AbortController();

test('no offset is committed before the comparison after an interruption has found what was not announced', async () => {
  const { changes, asked } = changesOverSlowDatabase();
  const compared = changes.compareAfterSilence();
  let isSettled = false;
  const settled = changes.settled(signal).then(() => (isSettled = true));
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
  asked.shift()!();
  await Promise.all([compared, settled]);
  await changes.settled(signal);
});

test('commits do not wait for the comparison of each minute', async () => {
  const { changes, asked } = changesOverSlowDatabase();
  const compared = changes.compare();
  await changes.settled(signal);
  asked.shift()!();
  await compared;
});
