import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServiceStatus } from '../../../schemas/api/status.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { countDueDeliveries } from '../../../shared/deliveries/pending-deliveries.ts';
import { readClockSkew, storeClockSkew } from '../../../shared/maintenance/settings.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let archive: TestArchive;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  clickhouse = archive.client;
});
afterAll(async () => {
  await archive.drop();
  await db.drop();
});

/** Matches of a monitor whose delivery is pending; times are seconds before now, negative ones after it. */
async function pend(monitorId: string, rows: { dueFor: number; leased?: boolean }[]): Promise<void> {
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status, next_attempt_at, lease_token, lease_until)
     SELECT $1, n, 't1_x' || n, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'pending', 'pending',
            service_now() - make_interval(secs => due), CASE WHEN leased THEN gen_random_uuid() END,
            CASE WHEN leased THEN service_now() + interval '1 hour' END
       FROM unnest($2::float8[], $3::bool[]) WITH ORDINALITY AS row (due, leased, n)`,
    [monitorId, rows.map(({ dueFor }) => dueFor), rows.map(({ leased }) => leased ?? false)],
  );
}

test('deliveries that are due, and those under way', async () => {
  expect(await countDueDeliveries(db.pool)).toEqual({ due: 0, oldestMs: null, underWay: 0 });
  const [first, second, third] = (await insertMonitors(db.pool, 3)) as [string, string, string];
  await pend(first, [{ dueFor: 30 }, { dueFor: 10 }, { dueFor: -60 }]);
  await pend(second, [{ dueFor: 50, leased: true }, { dueFor: 40 }]);
  await pend(
    third,
    Array.from({ length: 150 }, () => ({ dueFor: 1 })),
  );
  const { due, oldestMs, underWay } = await countDueDeliveries(db.pool);
  expect([due, underWay], 'of one monitor at most 100 are read').toEqual([103, 1]);
  expect(oldestMs).toBeGreaterThanOrEqual(40_000);
  expect(oldestMs).toBeLessThan(50_000);
  await db.pool.query('DELETE FROM matches');
});

test('the report of a pipeline that is up to date; HEAD and other methods', async () => {
  const item = { thing_id: 't1_new', kind: 'comment', first_seen_at: new Date().toISOString() };
  await clickhouse.insert({ table: 'items', values: [item], format: 'JSONEachRow' });
  let asked = 0;
  const consumerLag = () => {
    asked++;
    return Promise.resolve({ matcher: 7 });
  };
  const api = await startTestApi(db.pool, { clickhouse, consumerLag });
  // The first one has new connections.
  await eventually(
    'a whole report',
    async () => (await api.call(undefined, 'GET', '/status')).body.status === 'ok',
    30_000,
  );
  asked = 0;
  const begun = performance.now();
  const replies = await Promise.all(Array.from({ length: 50 }, () => api.call(undefined, 'GET', '/status')));
  for (const { status, body } of replies) {
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'ok',
      parts: { items: { status: 'ok' }, processing: { waiting_records: { matcher: 7 } }, deliveries: { due: 0 } },
    });
  }
  expect(asked, 'all share one report').toBeLessThanOrEqual(1 + Math.floor((performance.now() - begun) / 5_000));
  const head = await api.call(undefined, 'HEAD', '/status');
  expect([head.status, head.text]).toEqual([200, '']);
  const post = await api.call(undefined, 'POST', '/status');
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  await api.stop();
});

test('engines that are unavailable or hang are unknown, and delay the answer by at most the deadline', async () => {
  const gone = createPool({ url: 'postgres://127.0.0.1:9/none', name: 'gone', logger: silentLogger() });
  let asked = 0;
  const hanging = () => {
    asked++;
    return new Promise<never>(() => undefined);
  };
  const api = await startTestApi(gone, {
    clickhouse: createClickhouse('http://127.0.0.1:9', 'gone'),
    consumerLag: hanging,
    ready: () => Promise.reject(new Error('no')),
  });
  const begun = performance.now();
  const reply = await api.call(undefined, 'GET', '/status');
  expect(performance.now() - begun).toBeLessThan(30_000);
  const { status, parts } = reply.body as unknown as ServiceStatus;
  expect([reply.status, status]).toEqual([200, 'degraded']);
  expect(Object.values(parts).map((part) => part.status)).toEqual(Array.from({ length: 5 }, () => 'unknown'));
  expect(reply.text, 'no address, no reason').not.toMatch(/127\.0\.0\.1|ECONN|refused/);
  expect(asked).toBe(1);
  await api.stop();
  await gone.end();
});

test('clocks of a broker and Postgres that differ beyond the tolerance degrade the report, until that is old', async () => {
  const api = await startTestApi(db.pool, { clickhouse, consumerLag: () => Promise.resolve({}) });
  await storeClockSkew(db.pool, 700);
  const reply = await api.call(undefined, 'GET', '/status');
  expect(reply.body).toMatchObject({ parts: { clocks: { status: 'degraded', skew_seconds: 0.7 } } });
  await api.stop();
  await db.setShift('11 minutes');
  expect(await readClockSkew(db.pool)).toBeUndefined();
  await db.setShift('0');
});

test('a part that is down answers 503', async () => {
  const api = await startTestApi(db.pool, { clickhouse, consumerLag: () => Promise.resolve({ matcher: 600_000 }) });
  const reply = await api.call(undefined, 'GET', '/status');
  expect([reply.status, reply.body.status]).toEqual([503, 'down']);
  await api.stop();
});
