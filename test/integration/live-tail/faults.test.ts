import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { renewLiveTailSlots } from '../../../shared/matches/live-tails.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { EventStreamClient } from '../../support/clients/event-stream-client.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let proxy: TcpProxy;
let pool: Pool;
let api: TestApi;
let owner: TestAccount;
let monitorId: string;

beforeAll(async () => {
  db = await createTestDatabase();
});

beforeEach(async () => {
  proxy = await TcpProxy.start(db.url);
  pool = createPool({ url: proxy.url, name: 'test', logger: silentLogger() });
  api = await startTestApi(pool, { liveTail: { timing: { pollMs: 30, heartbeatMs: 40, renewMs: 30 } } });
  owner = await api.account();
  monitorId = (await api.monitor(owner.apiKey)).id;
});

afterEach(async () => {
  proxy.thaw();
  await api.stop();
  await proxy.stop();
  await pool.end();
});

afterAll(() => db.drop());

function tail(headers = {}): Promise<EventStreamClient> {
  return EventStreamClient.open(`${api.url}/v1/monitors/${monitorId}/stream`, owner.apiKey, headers);
}

const leaseUntil = async () => {
  const { rows } = await db.pool.query<{ until: Date }>(
    'SELECT lease_until AS until FROM live_tails WHERE account_id = $1',
    [owner.accountId],
  );
  return rows[0]!.until.getTime();
};

test('during an outage of Postgres a stream stays open, and sends what was recorded once it is back', async () => {
  const client = await tail();
  await recordMatches(db.pool, monitorId, 1);
  await client.until(1);
  proxy.goAway();
  const { length } = client.parser.comments;
  await eventually('comments continue', () => client.parser.comments.length > length + 3);
  await recordMatches(db.pool, monitorId, 120);
  proxy.comeBack();
  await client.until(121);
  expect(client.seqs).toEqual(Array.from({ length: 121 }, (_, at) => at + 1));
  const until = await leaseUntil();
  await eventually('its slot is renewed again', async () => (await leaseUntil()) > until);
  await client.close();
});

test('a stream whose expired lease was deleted leases its slot again', async () => {
  const client = await tail();
  const slots = async () =>
    (await db.pool.query('SELECT FROM live_tails WHERE account_id = $1', [owner.accountId])).rowCount;
  await db.pool.query('DELETE FROM live_tails');
  await eventually('it has a slot', async () => (await slots()) === 1);
  await client.close();
  await eventually('the slot is free', async () => (await slots()) === 0);
});

test('streams of a process with one slot, of which the second took the expired lease of the first, are renewed', async () => {
  const [first, second] = [0, 1].map(() => ({ accountId: 'acc_shared', slot: 1, streamId: randomUUID() }));
  for (const holder of [first!, second!]) {
    await renewLiveTailSlots(db.pool, [holder], 0);
    await renewLiveTailSlots(db.pool, [first!, second!], 60);
    const { rows } = await db.pool.query<{ id: string }>(
      `DELETE FROM live_tails WHERE account_id = 'acc_shared' AND lease_until > service_now() RETURNING stream_id AS id`,
    );
    expect(rows).toEqual([{ id: holder.streamId }]);
  }
  await renewLiveTailSlots(db.pool, [first!, second!], 60);
});

test('a Postgres that does not answer does not block a stop', async () => {
  const client = await tail();
  await recordMatches(db.pool, monitorId, 1);
  await client.until(1);
  proxy.freeze();
  await eventually('the stream waits for its page, and renewals for their statements', () => pool.waitingCount > 3);
  await api.stop();
  await client.closed();
  expect(client.isComplete).toBe(true);
});
