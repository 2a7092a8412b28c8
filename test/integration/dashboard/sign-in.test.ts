import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { randomText } from '../../../shared/rules/identifiers.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { findAccount, listSignInNetworks, recordSignInNetwork } from '../../../shared/accounts/accounts.ts';
import { listDashboardSessions } from '../../../shared/accounts/dashboard-sessions.ts';
import { runAdminHere } from '../../support/children/admin-process.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import { allPages } from '../../../services/api/dashboard/dashboard.ts';
import type { DashboardDeps } from '../../../services/api/dashboard/dashboard.ts';

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

const newEmail = () => `${randomText(12)}@gmail.com`;
const codeFor = (email: string) =>
  /Your code is (\d{6})/.exec(mails.findLast(({ to, subject }) => to === email && subject.includes('code'))!.text)![1]!;
const browse = () => new Browser(fetch);
const newPerson = async () => visitDashboard(db.pool, api.url, (await api.account()).accountId);

/** The page after signing in with the code that was mailed. */
async function signIn(browser: Browser, email: string, path = '/dashboard/sign-in') {
  await browser.open(api.url + path);
  await browser.submit('sign-in', { email });
  return browser.submit('sign-in/code', { code: codeFor(email) });
}

describe('signing in', () => {
  test('opens a free account for a new address, and the same account the next time', async () => {
    const email = newEmail();
    const first = await signIn(browse(), email);
    expect([first.status, first.url.pathname]).toEqual([200, '/dashboard']);
    expect(first.html).toContain('<h1>Overview</h1>');
    const account = await findAccount(db.pool, email);
    expect(account).toMatchObject({ email, balance: 200, pack: 0 });
    const second = await signIn(browse(), email);
    expect(second.html).toContain('200</span> credits');
    const { rows } = await db.pool.query('SELECT FROM dashboard_sessions WHERE account_id = $1', [account!.id]);
    expect(rows).toHaveLength(2);
  });

  test('leads to the page that was asked for, and never to another site', async () => {
    expect((await browse().open(api.url)).url.pathname).toBe('/dashboard/sign-in');
    const asked = await browse().open(`${api.url}/dashboard/nothing`);
    expect(asked.url.href).toBe(`${api.url}/dashboard/sign-in?next=%2Fnothing`);
    for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example']) {
      const browser = browse();
      await browser.open(`${api.url}/dashboard/sign-in?next=${encodeURIComponent(next)}`);
      const email = newEmail();
      await browser.submit('sign-in', { email });
      const done = await browser.submit('sign-in/code', { code: codeFor(email) });
      expect(done.url.href).toBe(`${api.url}/dashboard`);
    }
  });

  test('says what is wrong with an address, and keeps it', async () => {
    const browser = browse();
    await browser.open(`${api.url}/dashboard/sign-in`);
    const page = await browser.submit('sign-in', { email: '"><script>alert(1)</script>' });
    expect(page.status).toBe(400);
    expect(page.html).toContain('is not a valid e-mail address');
    expect(page.html).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
  });

  test('two networks that use up the codes of a mailbox keep out no owner who comes from a known one', async () => {
    const mailer = { send: (mail: Mail) => Promise.resolve(void mails.push(mail)) };
    const proxied = await startTestApi(db.pool, { mailer, http: { trustProxy: 'loopback' } });
    onTestFinished(() => proxied.stop());
    const email = newEmail();
    const ask = async (network: string) => {
      const address = `${network}.${randomInt(1, 255)}`;
      const browser = new Browser((url, init) => {
        const headers = new Headers(init?.headers);
        headers.set('x-forwarded-for', address);
        return fetch(url, { ...init, headers });
      });
      await browser.open(`${proxied.url}/dashboard/sign-in`);
      const { status } = await browser.submit('sign-in', { email });
      return { status, enter: () => browser.submit('sign-in/code', { code: codeFor(email) }) };
    };
    await (await ask('192.0.2')).enter();
    for (const stranger of ['198.51.100', '203.0.113']) for (let each = 0; each < 5; each++) await ask(stranger);
    expect((await ask('198.18.0')).status).toBe(429);
    const owner = await ask('192.0.2');
    expect(owner.status).toBe(200);
    expect((await owner.enter()).html).toContain('<h1>Overview</h1>');
  });

  test('a network that cannot be remembered fails no sign-in, whose code is used up', async () => {
    const browser = browse();
    await browser.open(`${api.url}/dashboard/sign-in`);
    const email = newEmail();
    await browser.submit('sign-in', { email });
    await db.pool.query('ALTER TABLE sign_in_networks RENAME TO networks_away');
    const done = await browser.submit('sign-in/code', { code: codeFor(email) });
    await db.pool.query('ALTER TABLE networks_away RENAME TO sign_in_networks');
    expect([done.status, done.url.pathname]).toEqual([200, '/dashboard']);
  });

  test('an account is remembered by its last five networks, which follow its address', async () => {
    const { accountId, email } = await api.account();
    for (let at = 0; at < 7; at++) await recordSignInNetwork(db.pool, accountId, `192.0.${at % 6}.0/24`);
    await db.pool.query(`UPDATE accounts SET mailbox = 'new@example.com' WHERE id = $1`, [accountId]);
    expect(await listSignInNetworks(db.pool, email)).toEqual([]);
    const known = [0, 5, 4, 3, 2].map((at) => `192.0.${at}.0/24`);
    expect(await listSignInNetworks(db.pool, 'new@example.com')).toEqual(known);
  });

  test('does not take a code that was mailed for agent sign-up', async () => {
    const email = newEmail();
    const signup = await api.call(undefined, 'POST', '/api/agent/signup', { email });
    expect(signup.status).toBe(200);
    const browser = browse();
    await browser.open(`${api.url}/dashboard/sign-in`);
    const agentCode = codeFor(email);
    await browser.submit('sign-in', { email });
    const dashboardCode = codeFor(email);
    if (agentCode === dashboardCode) return;
    const page = await browser.submit('sign-in/code', { code: agentCode });
    expect(page.status).toBe(400);
  });

  test('opens no session when the account gets another address after the code was found right', async () => {
    const { email, accountId } = await api.account();
    await db.pool.query(
      `CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN UPDATE accounts SET email = 'moved@gmail.com' WHERE id = '${accountId}'; RETURN NULL; END $$;
       CREATE TRIGGER move AFTER DELETE ON oauth_records FOR EACH ROW WHEN (OLD.model = 'DashboardSignIn')
         EXECUTE FUNCTION move()`,
    );
    const browser = browse();
    const page = await signIn(browser, email);
    await db.pool.query('DROP FUNCTION move CASCADE');
    expect([page.status, browser.cookies.some(({ name }) => name === 'dashboard_session')]).toEqual([400, false]);
    expect(page.html).toContain('The code is no longer valid. Request a new one.');
    expect((await findAccount(db.pool, accountId))!.email).toBe('moved@gmail.com');
    expect(await listDashboardSessions(db.pool, accountId)).toEqual([]);
  });

  test('takes a link that an administrator printed, once, in the browser that presses its button', async () => {
    const { accountId, email } = await api.account();
    const env = { DATABASE_URL: db.url, DASHBOARD_URL: api.url };
    const { out } = await runAdminHere(['account', 'sign-in-link', '--account', accountId], env);
    const { url } = JSON.parse(out) as { url: string };
    const browser = browse();
    const page = await browser.open(url);
    expect(page.html).toContain('to sign in to the dashboard');
    const signedIn = await browser.submit('sign-in/link');
    expect([signedIn.status, signedIn.url.pathname]).toEqual([200, '/dashboard']);
    expect(signedIn.html).toContain(`Signed in as ${email}`);
    const again = browse();
    await again.open(url);
    expect((await again.submit('sign-in/link')).status).toBe(400);
  });

  test('tells the owner of a session from a network that was not seen before', async () => {
    const { email } = await api.account();
    const notices = () => mails.filter(({ to, subject }) => to === email && subject === 'New sign-in to your account');
    for (let times = 0; times < 2; times++) {
      await signIn(browse(), email);
      expect(notices()).toHaveLength(1);
    }
  });
});

describe('a session', () => {
  test('ends when the person signs out, and its cookie opens nothing afterwards', async () => {
    const person = await newPerson();
    expect((await person.get('')).status).toBe(200);
    const out = await person.post('/sign-out');
    expect(out.html).toContain('You are signed out');
    expect(out.headers.getSetCookie().join()).toMatch(/dashboard_session=;/);
    expect((await person.get('')).location).toBe('/dashboard/sign-in');
  });

  test('is not accepted by the API, and a key is not accepted by the dashboard', async () => {
    const { accountId, apiKey } = await api.account();
    const { cookie } = await visitDashboard(db.pool, api.url, accountId);
    for (const path of ['/v1/account', '/v1/monitors/mon_0123456789ab/stream']) {
      expect((await api.call(undefined, 'GET', path, undefined, { cookie })).status).toBe(401);
    }
    const page = await fetch(`${api.url}/dashboard`, {
      headers: { authorization: `Bearer ${apiKey}` },
      redirect: 'manual',
    });
    expect(page.headers.get('location')).toBe('/dashboard/sign-in');
  });

  test('is a new one after each sign-in, whatever the browser brought along', async () => {
    const { email, accountId } = await api.account();
    const planted = await newPerson();
    const browser = browse();
    browser.cookies.push({ name: 'dashboard_session', value: planted.token, path: '/dashboard' });
    browser.cookies.push({ name: 'dashboard_visitor', value: 'x', path: '/dashboard' });
    // Signed in as the planted account: sign out first, as a person would.
    await browser.open(`${api.url}/dashboard`);
    await browser.submit('sign-out');
    await signIn(browser, email);
    const cookie = browser.cookies.find(({ name }) => name === 'dashboard_session')!;
    expect(cookie.value).not.toBe(planted.token);
    const { rows } = await db.pool.query('SELECT account_id FROM dashboard_sessions WHERE account_id = $1', [
      accountId,
    ]);
    expect(rows).toHaveLength(1);
  });

  test('of a frozen or deleted account opens nothing', async () => {
    for (const status of ['frozen', 'deleted']) {
      const { accountId } = await api.account();
      const person = await visitDashboard(db.pool, api.url, accountId);
      await db.pool.query('UPDATE accounts SET status = $2 WHERE id = $1', [accountId, status]);
      expect((await person.get('')).location).toBe('/dashboard/sign-in');
    }
  });

  test('may ask for 120 pages a minute', async () => {
    const person = await newPerson();
    const statuses = [];
    for (let n = 0; n < 121; n++) statuses.push((await person.get('')).status);
    expect(statuses.slice(0, 120).every((status) => status === 200)).toBe(true);
    expect(statuses.at(-1)).toBe(429);
    expect((await person.post('/sign-out')).html).toContain('You are signed out');
    expect((await person.get('')).status).toBe(303);
  });

  test('has a cookie that scripts and other sites do not get', async () => {
    const browser = browse();
    await signIn(browser, newEmail());
    const set = browser.setCookies.filter((text) => text.startsWith('dashboard_session='));
    expect(set.at(-1)).toMatch(/; Max-Age=2592000; Path=\/dashboard; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
  });
});

describe('forms of other sites', () => {
  test('change nothing without the token, or with that of another session', async () => {
    const { accountId } = await api.account();
    const [person, other] = [
      await visitDashboard(db.pool, api.url, accountId),
      await visitDashboard(db.pool, api.url, accountId),
    ];
    for (const form_token of ['', 'x', other.token]) {
      const answer = await fetch(`${api.url}/dashboard/sign-out`, {
        method: 'POST',
        headers: { cookie: person.cookie },
        body: new URLSearchParams({ form_token }),
      });
      expect(answer.status).toBe(400);
    }
    expect((await person.get('')).status).toBe(200);
  });
});

test('pages may not be framed, cached, or load anything from elsewhere', async () => {
  const { headers } = await (await newPerson()).get('');
  const policy = headers.get('content-security-policy')!;
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'"]) {
    expect(policy).toContain(part);
  }
  expect(policy).not.toContain('unsafe');
  expect(headers.get('cache-control')).toBe('no-store');
});

describe('every page', () => {
  /** Only listed here, never called. */
  const ROUTES = allPages({ secretKey: 'not used' } as DashboardDeps).map(({ method, path }) => ({
    method,
    path: path.replace('/*rest', '/anything').replace(/:\w+/g, 'mon_0123456789ab').replace(/^\/$/, ''),
  }));

  test.each(ROUTES)('$method $path needs a session', async ({ method, path }) => {
    for (const cookie of ['', `dashboard_session=${'0'.repeat(32)}`, "dashboard_session=' OR true --"]) {
      const answer = await fetch(`${api.url}/dashboard${path}`, {
        method: method.toUpperCase(),
        headers: { cookie },
        redirect: 'manual',
        ...(method === 'post' ? { body: new URLSearchParams({ name: 'x' }) } : {}),
      });
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toMatch(/^\/dashboard\/sign-in(\?next=|$)/);
      expect(await answer.text()).not.toContain('<h1>');
    }
  });

  test.each(ROUTES.filter(({ method }) => method === 'post'))(
    '$path refuses the forms of other sites',
    async ({ path }) => {
      const person = await newPerson();
      const headers = { cookie: person.cookie };
      const url = `${api.url}/dashboard${path}`;
      const without = await fetch(url, { method: 'POST', headers, body: new URLSearchParams({ name: 'x' }) });
      expect([without.status, await without.text()]).toEqual([400, expect.stringContaining('Nothing was changed.')]);
      const foreign = await person.post(path, {}, { origin: 'https://evil.example' });
      expect([foreign.status, foreign.html]).toEqual([400, expect.stringContaining('Nothing was changed.')]);
    },
  );
});

describe('hostile requests', () => {
  /** A request that fetch would refuse to send. @returns its status, once the answer is complete */
  const statusOf = (path: string, options: { method: string; headers: Record<string, string>; body?: string }) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { method, headers, body } = options;
      const sent = request(`${api.url}/dashboard${path}`, { method, headers }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      });
      sent.once('error', reject).end(body);
    });

  test('a page of a stranger whose name leads here (DNS rebinding) is shown no page', async () => {
    const ask = (host: string) => statusOf('/sign-in', { method: 'GET', headers: { host } });
    for (const host of ['evil.example', '127.0.0.1.evil.example:80']) expect(await ask(host)).toBe(400);
    for (const host of ['LOCALHOST:8080', '[::1]']) expect(await ask(host)).toBe(200);
  });

  test('a null character in an address is no failure of the server', async () => {
    const person = await newPerson();
    expect((await person.get('/billing?bought=%00')).status).toBe(200);
    expect((await person.post('/account/sessions/%00/end')).status).toBe(404);
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

  test('50,000 lines that cannot be read are refused as one fault', async () => {
    const person = await newPerson();
    const page = await person.post('/monitors/new', { name: 'x', keywords: 'rust', require: '*\n'.repeat(50_000) });
    expect([page.status, page.html]).toEqual([
      400,
      expect.stringMatching(/-problem" role="alert">Also required must have at most/),
    ]);
  });

  test('an engine that hangs does not hold up the page of the status', async () => {
    const hanging = await startTestApi(db.pool, { ready: () => new Promise(() => undefined) });
    const { accountId } = await hanging.account();
    const person = await visitDashboard(db.pool, hanging.url, accountId);
    const page = await person.get('/status');
    // Without this, the page would wait for the report of the state, 2.5 s, and say what is unavailable.
    expect([page.status, page.html]).toEqual([200, expect.stringContaining('could not be measured in time')]);
    await hanging.stop();
  });

  test('signing in again and again does not multiply the limit of requests: the eleventh session ends one', async () => {
    const { accountId, email } = await api.account();
    const people = [];
    for (let n = 0; n < 10; n++) people.push(await visitDashboard(db.pool, api.url, accountId));
    await db.pool.query(`UPDATE dashboard_sessions SET last_seen_at = last_seen_at - interval '1 hour' WHERE id = $1`, [
      people[3]!.sessionId,
    ]);
    expect((await signIn(browse(), email)).html).toContain('<h1>Overview</h1>');
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
});
