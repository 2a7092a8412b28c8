import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
const mails: Mail[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool, { mailer: { send: (mail) => Promise.resolve(void mails.push(mail)) } });
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

/** A request that fetch would refuse to send. @returns its status, once the answer is complete */
const statusOf = (path: string, options: { method: string; headers: Record<string, string>; body?: string }) =>
  new Promise<number | undefined>((resolve, reject) => {
    const { method, headers, body } = options;
    const sent = request(`${api.url}/dashboard${path}`, { method, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    sent.once('error', reject).end(body);
  });

test('a null character in an address is no failure of the server', async () => {
  const { accountId } = await api.account();
  const person = await visitDashboard(db.pool, api.url, accountId);
  expect((await person.get('/billing?bought=%00')).status).toBe(200);
  expect((await person.post('/account/sessions/%00/end')).status).toBe(404);
});

test.each(['[', 'a b', 'example.com:99999'])('a form sent to the host %j is refused as a foreign one', async (host) => {
  const { accountId } = await api.account();
  const { cookie } = await visitDashboard(db.pool, api.url, accountId);
  const headers = { host, cookie, origin: api.url, 'content-type': 'application/x-www-form-urlencoded' };
  expect(await statusOf('/keys', { method: 'POST', headers, body: 'name=x' })).toBe(400);
});

test('the form of a stranger is not read: the way to sign in comes before its end', async () => {
  const { port, hostname, host } = new URL(api.url);
  const type = 'application/x-www-form-urlencoded';
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /dashboard/monitors/new HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${type}\r\nContent-Length: 262144\r\n\r\n`,
  );
  socket.write('x'.repeat(1_024));
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(60_000) })) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 303 [^]*\nLocation: \S*\/sign-in\r\n/);
  socket.destroy();
});

test('what strangers may send to sign in is small', async () => {
  const headers = { origin: api.url, 'content-type': 'application/x-www-form-urlencoded' };
  for (const path of ['/sign-in', '/sign-in/code', '/sign-out']) {
    expect(await statusOf(path, { method: 'POST', headers, body: `email=${'x'.repeat(5_000)}` })).toBe(413);
  }
});

test('HEAD of a stream or of a download is answered at once, and holds no stream', async () => {
  const { accountId, apiKey } = await api.account();
  const { id } = await api.monitor(apiKey);
  const { cookie } = await visitDashboard(db.pool, api.url, accountId);
  for (const path of [`/monitors/${id}/stream`, '/billing/ledger.csv', '/account/export']) {
    expect(await statusOf(path, { method: 'HEAD', headers: { cookie } })).toBe(200);
  }
  const { rowCount } = await db.pool.query('SELECT FROM live_tails WHERE account_id = $1', [accountId]);
  expect(rowCount).toBe(0);
});

test.each(['terms', 'require'])('50,000 lines that cannot be read as %s are refused as one fault', async (name) => {
  const { accountId } = await api.account();
  const person = await visitDashboard(db.pool, api.url, accountId);
  const page = await person.post('/monitors/new', { name: 'x', keywords: 'rust', [name]: '*\n'.repeat(50_000) });
  expect([page.status, page.html]).toEqual([400, expect.stringMatching(/-problem" role="alert">must have at most/)]);
});

test('an engine that hangs does not hold up the overview', async () => {
  const hanging = await startTestApi(db.pool, { ready: () => new Promise(() => undefined) });
  const { accountId } = await hanging.account();
  const person = await visitDashboard(db.pool, hanging.url, accountId);
  const page = await person.get('');
  // Without this, the page would wait for the report of the state, 2.5 s, and say what is away.
  expect([page.status, page.html]).toEqual([200, expect.stringContaining('Not known at the moment.')]);
  await hanging.stop();
});

test('signing in again and again does not multiply the limit of requests: the eleventh session ends one', async () => {
  const { accountId, email } = await api.account();
  const people = [];
  for (let n = 0; n < 10; n++) people.push(await visitDashboard(db.pool, api.url, accountId));
  await db.pool.query(`UPDATE dashboard_sessions SET last_seen_at = last_seen_at - interval '1 hour' WHERE id = $1`, [
    people[3]!.sessionId,
  ]);
  const browser = new Browser(fetch);
  await browser.open(`${api.url}/dashboard/sign-in`);
  await browser.submit('sign-in', { email });
  const [, code] = /Your code is (\d{6})/.exec(mails.findLast(({ to }) => to === email)!.text)!;
  expect((await browser.submit('sign-in/code', { code: code! })).html).toContain('<h1>Overview</h1>');
  const statuses = await Promise.all(people.map(async (person) => (await person.get('')).status));
  expect(statuses).toEqual([200, 200, 200, 303, 200, 200, 200, 200, 200, 200]);
});

test('creating and revoking keys in a loop does not bury the mail about one of them', async () => {
  const { apiKey, email } = await api.account();
  const create = () => api.call(apiKey, 'POST', '/v1/account/keys', { name: 'again', scopes: ['account'] });
  for (let n = 0; n < 40; n++) {
    const { status, body } = await create();
    expect(status).toBe(201);
    await api.call(apiKey, 'DELETE', `/v1/account/keys/${(body.key as { id: string }).id}`);
  }
  const refused = await create();
  expect([refused.status, refused.body]).toMatchObject([429, { error: { code: 'rate_limited' } }]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
  expect(mails.filter(({ to, subject }) => to === email && subject.includes('key'))).toHaveLength(40);
});
