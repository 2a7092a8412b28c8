import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import '../../support/runner/provided-context.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { exportPoolUse } from '../../../shared/postgres/pool-metrics.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

const metrics = createMetrics();
let pool: Pool;
beforeAll(() => {
  pool = createPool({ url: inject('postgresUrl'), name: 'pool metrics', logger: silentLogger(), max: 2 });
  exportPoolUse(pool, { name: 'services', metrics });
});
afterAll(() => pool.end());

async function use() {
  const states = await metrics.postgresConnections.get();
  const queue = await metrics.postgresQueue.get();
  return {
    ...Object.fromEntries(states.values.map(({ labels, value }) => [String(labels.state), value])),
    queue: queue.values[0]?.value,
  };
}

test('the connections of a pool are exported by state, with the queries that wait for one', async () => {
  expect(await use()).toEqual({ busy: 0, idle: 0, free: 2, queue: 0 });
  const first = await pool.connect();
  const second = await pool.connect();
  expect(await use()).toEqual({ busy: 2, idle: 0, free: 0, queue: 0 });

  const waiting = [pool.query('SELECT 1'), pool.query('SELECT 2')];
  first.release();
  await waiting[0];
  second.release();
  await waiting[1];
  await eventually('nothing is busy', async () => (await use()).queue === 0 && pool.idleCount === 2);
  expect(await use()).toEqual({ busy: 0, idle: 2, free: 0, queue: 0 });
});
