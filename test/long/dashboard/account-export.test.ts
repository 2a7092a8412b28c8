import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { exportLinesOf, insertDeliveredMatches } from '../../support/dashboard/exported-data.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

test('a client that stops reading holds no memory and no transaction, and one that goes ends the work', async () => {
  const { accountId, apiKey } = await api.account({ credits: 5_000 });
  const { id } = await api.monitor(apiKey);
  // 40 MB, more than all buffers in between.
  await insertDeliveredMatches(db.pool, { monitorId: id, count: 4_000, bytes: 10_000 });
  const person = await visitDashboard(db.pool, api.url, accountId);
  await untilStill();
  const before = await statements('delivery_attempts');
  const { port, hostname } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /dashboard/account/export HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${person.cookie}\r\n\r\n`);
  await new Promise((resolve) => socket.once('readable', resolve));
  await untilStill();
  // Deliveries come after the matches, which wait for their reader.
  expect(await statements('delivery_attempts')).toBe(before);
  const { rows: open } = await db.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
  );
  expect(open).toHaveLength(0);
  socket.destroy();
  await untilStill();
  expect(await statements('delivery_attempts')).toBe(before);
  const whole = await person.get('/account/export');
  expect(exportLinesOf(whole.html).at(-1)).toMatchObject({ type: 'end' });
  await untilStill();
  expect(await statements('delivery_attempts')).toBeGreaterThan(before);
});

test('a download stops when its session is ended, as by the owner of a stolen cookie', async () => {
  const { accountId, apiKey } = await api.account({ credits: 5_000 });
  const { id } = await api.monitor(apiKey);
  await insertDeliveredMatches(db.pool, { monitorId: id, count: 2_000, bytes: 10_000 });
  const [thief, owner] = [
    await visitDashboard(db.pool, api.url, accountId),
    await visitDashboard(db.pool, api.url, accountId),
  ];
  const { body } = await fetch(`${api.url}/dashboard/account/export`, { headers: { cookie: thief.cookie } });
  const reader = body!.getReader();
  await reader.read();
  expect((await owner.post('/account/sessions/end-others')).status).toBe(303);
  const readAll = async () => {
    while (!(await reader.read()).done);
  };
  await expect(readAll()).rejects.toThrow('terminated');
});

/** How many scans of a table there were; the server counts them about once a second. */
async function statements(table: string): Promise<number> {
  const { rows } = await db.pool.query<{ scans: number }>(
    `SELECT coalesce(idx_scan, 0) + coalesce(seq_scan, 0) AS scans FROM pg_stat_user_tables WHERE relname = $1`,
    [table],
  );
  return rows[0]!.scans;
}

/** Waits until no match has been read for 60 looks, which take more than three seconds. */
async function untilStill(): Promise<void> {
  let scans = -1;
  let looks = 0;
  await eventually('nothing more is read', async () => {
    const now = (await statements('matches')) + (await statements('delivery_attempts'));
    looks = now === scans ? looks + 1 : 0;
    scans = now;
    return looks >= 60;
  });
}
