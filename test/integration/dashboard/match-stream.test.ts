import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { EventStreamClient } from '../../support/clients/event-stream-client.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { recordMatches } from '../../support/samples/live-tail-matches.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let person: DashboardVisitor;
let id: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { liveTail: { timing: { pollMs: 50 } } });
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});
beforeEach(async () => {
  owner = await api.account();
  person = await visitDashboard(db.pool, api.url, owner.accountId);
  id = (await api.monitor(owner.apiKey)).id;
});

/** Opens the stream of the monitor's page. The cookie alone counts. */
const open = (headers: Record<string, string> = {}, query = '') =>
  EventStreamClient.open(`${api.url}/dashboard/monitors/${id}/stream${query}`, 'none', {
    cookie: person.cookie,
    accept: 'text/event-stream',
    ...headers,
  });
const items = (client: EventStreamClient) => client.events.filter(({ type }) => type === 'item');
const endOf = (client: EventStreamClient) =>
  eventually('the stream says why it ends', () => client.events.find(({ type }) => type === 'end')?.data);

test('sends the markup of each match once, and goes on after the last one', async () => {
  await recordMatches(db.pool, id, 2);
  const client = await open({}, `?after=${matchId(id, 1)}`);
  await recordMatches(db.pool, id, 1);
  await eventually('two entries', () => items(client).length === 2);
  const [second, third] = items(client);
  expect([second!.id, third!.id]).toEqual([matchId(id, 2), matchId(id, 3)]);
  const { id: element, markup } = JSON.parse(third!.data) as { id: string; markup: string };
  expect(element).toBe(matchId(id, 3));
  expect(markup).toMatch(new RegExp(`^<li id="${element}">`));
  expect(markup).toContain('name="form_token"');
  await client.close();
  const again = await open({ 'last-event-id': matchId(id, 2) }, `?after=${matchId(id, 1)}`);
  await eventually('one entry', () => items(again).length === 1);
  expect(items(again)[0]!.id).toBe(matchId(id, 3));
  await again.close();
});

test.each<[string, () => Promise<unknown>, string]>([
  ['the session was revoked', () => endSession('ended_at = service_now()'), 'session_ended'],
  ['the session expired', () => endSession('expires_at = service_now()'), 'session_ended'],
  [
    'the session is gone',
    () => db.pool.query('DELETE FROM dashboard_sessions WHERE id = $1', [person.sessionId]),
    'session_ended',
  ],
  ['the monitor was deleted', () => person.post(`/monitors/${id}/delete`), 'monitor_deleted'],
  [
    'the account was frozen',
    () => db.pool.query(`UPDATE accounts SET status = 'frozen' WHERE id = $1`, [owner.accountId]),
    'account_frozen',
  ],
])('ends when %s, and sends nothing recorded after it', async (_, end, reason) => {
  const client = await open();
  await eventually('it is open', () => client.status === 200);
  await end();
  await recordMatches(db.pool, id, 1);
  expect(await endOf(client)).toBe(JSON.stringify({ reason }));
  expect(items(client)).toEqual([]);
  await client.close();
});

function endSession(change: 'ended_at = service_now()' | 'expires_at = service_now()') {
  return db.pool.query(`UPDATE dashboard_sessions SET ${change} WHERE id = $1`, [person.sessionId]);
}

test('asks for a session by 401, refuses wrong cursors, and shares the slots of the account', async () => {
  expect((await open({ cookie: 'dashboard_session=x' })).status).toBe(401);
  expect((await open({}, '?after=x')).status).toBe(400);
  const clients = await Promise.all(Array.from({ length: 10 }, () => open()));
  expect(clients.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  const byKey = await EventStreamClient.open(`${api.url}/v1/monitors/${id}/stream`, owner.apiKey);
  expect(byKey.status).toBe(429);
  await Promise.all(clients.map((client) => client.close()));
});

test('never accepts the cookie instead of a key', async () => {
  const client = await EventStreamClient.open(`${api.url}/v1/monitors/${id}/stream`, 'none', { cookie: person.cookie });
  expect(client.status).toBe(401);
});
