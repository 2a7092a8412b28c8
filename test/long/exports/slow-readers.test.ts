import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freezeAccount } from '../../../shared/accounts/close-account.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

/** Long enough for a busy machine to ask twice while an export is under way. */
const WHOLE_MS = 6_000;
const MATCHES = 2_000;
const BODY = 10_000;

let db: TestDatabase;
let api: TestApi;
let sockets: Socket[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { exportTiming: { stallMs: 60_000, deadlineMs: WHOLE_MS } });
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

type Running = TestAccount & { path: string };

/** An account with a monitor whose matches take 20 MB, more than the buffers of a connection. */
async function largeMonitor(): Promise<Running> {
  const owner = await api.account();
  const { id } = await api.monitor(owner.apiKey);
  await db.pool.query(
    `WITH numbers AS (SELECT n, 't1_' || substr(md5($1 || n), 1, 10) AS thing FROM generate_series(1, $2::int) AS n),
     items AS (
       INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
       SELECT thing, 'comment', 'x', 'rust', 'ada', 'a title', repeat('x', $3), '/r/rust/x', false, service_now(),
         service_now() + interval '1 day' FROM numbers
     )
     INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT $1, n, thing, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'pending', 'delivered'
     FROM numbers`,
    [id, MATCHES, BODY],
  );
  return { ...owner, path: `/v1/monitors/${id}/matches/export?format=ndjson` };
}

async function revokeKey({ apiKey }: TestAccount): Promise<void> {
  const { body } = await api.call(apiKey, 'POST', '/v1/account/keys', { name: 'another' });
  const { status } = await api.call(body.api_key as string, 'DELETE', `/v1/account/keys/${apiKey.slice(3, 11)}`);
  expect(status).toBe(200);
}

/** Asks for an export, and reads nothing after the beginning of the answer. */
async function stalled({ apiKey, path }: { apiKey: string; path: string }): Promise<Socket> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`);
  sockets.push(socket);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
  return socket;
}

async function begun({ apiKey, path }: Running): Promise<ReadableStream<Uint8Array>> {
  const { body } = await fetch(api.url + path, { headers: { authorization: `Bearer ${apiKey}` } });
  return body!;
}

const ask = ({ apiKey, path }: { apiKey: string; path: string }, query = '&to=2000-01-01T00:00:00Z') =>
  api.call(apiKey, 'GET', path + query);
const codeOf = async (owner: { apiKey: string; path: string }) => {
  const { status, body } = await ask(owner);
  return status === 200 ? 'exported' : (body.error as { code: string }).code;
};

test('an account has one export at a time, four accounts all; what takes too long breaks off', async () => {
  const owners = await Promise.all(Array.from({ length: 5 }, largeMonitor));
  const before = process.memoryUsage().arrayBuffers;
  const slow = (await begun(owners[0]!)).getReader();
  await Promise.all(owners.slice(1, 4).map(stalled));
  expect(await codeOf(owners[4]!)).toBe('service_unavailable');
  expect(await codeOf(owners[0]!)).toBe('rate_limited');
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60_000_000);
  const slowly = async () => {
    while (!((await slow.read()) as { done: boolean }).done) {
      // A read has some 100 KB, so that all takes several times as long as is allowed.
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  };
  // It never looks complete.
  await expect(slowly()).rejects.toThrow();
  for (const owner of owners) await eventually('its export is free', async () => (await codeOf(owner)) === 'exported');
});

test('a reader that leaves gives its export back at once', async () => {
  const owner = await largeMonitor();
  const socket = await stalled(owner);
  expect(await codeOf(owner)).toBe('rate_limited');
  socket.destroy();
  await eventually('it is given back', async () => (await codeOf(owner)) === 'exported', WHOLE_MS - 1_000);
});

test.each<[string, (owner: Running) => Promise<unknown>]>([
  ['its key is revoked', revokeKey],
  ['its monitor is deleted', ({ apiKey, path }) => api.call(apiKey, 'DELETE', path.replace(/\/matches.*/, ''))],
  ['its account is frozen', ({ accountId }) => freezeAccount(db.pool, accountId)],
])('an export breaks off when %s', async (_when, end) => {
  const owner = await largeMonitor();
  const reader = (await begun(owner)).getReader();
  await reader.read();
  await end(owner);
  await expect(rest(reader)).rejects.toThrow();
});

test('a download of all data stops when its session is ended, as by the owner of a stolen cookie', async () => {
  const { accountId } = await largeMonitor();
  const visit = () => visitDashboard(db.pool, api.url, accountId);
  const [thief, owner] = [await visit(), await visit()];
  const { body } = await fetch(`${api.url}/dashboard/account/export`, { headers: { cookie: thief.cookie } });
  const reader = body!.getReader();
  await reader.read();
  expect((await owner.post('/account/sessions/end-others')).status).toBe(303);
  await expect(rest(reader)).rejects.toThrow('terminated');
});

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}
