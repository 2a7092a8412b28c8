import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import { readSwitchedOff } from '../../../shared/stores/notices/notice-settings.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
const mails: Mail[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
  const mailer = { send: (mail: Mail) => Promise.resolve(void mails.push(mail)) };
  api = await startTestApi(db.pool, { mailer });
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

async function newPerson(): Promise<TestAccount & { person: DashboardVisitor }> {
  const account = await api.account();
  return { ...account, person: await visitDashboard(db.pool, api.url, account.accountId) };
}

describe('mails', () => {
  test('are all switched on at first, and each can be switched off and on', async () => {
    const { person, accountId } = await newPerson();
    const ticked = async () => {
      const { html } = await person.get('/account');
      return [...html.matchAll(/name="kinds"\s+value="(\w+)"\s+checked/g)].map(([, kind]) => kind);
    };
    expect(await ticked()).toEqual(['low_balance', 'monitor_paused', 'webhook_failing', 'webhook_recovered']);
    const done = await person.post('/account/notices', { kinds: ['monitor_paused', 'nothing'] });
    expect([done.status, done.location]).toEqual([303, '/dashboard/account?done=notices']);
    expect(await ticked()).toEqual(['monitor_paused']);
    expect(await readSwitchedOff(db.pool, accountId)).toEqual(['low_balance', 'webhook_failing', 'webhook_recovered']);
    await person.post('/account/notices', {});
    expect(await ticked()).toEqual([]);
    await person.post('/account/notices', { kinds: ['low_balance', 'webhook_failing'] });
    expect(await readSwitchedOff(db.pool, accountId)).toEqual(['monitor_paused', 'webhook_recovered']);
  });
});

describe('sessions', () => {
  test('are listed with this one marked, and end one by one or all others together', async () => {
    const { person, accountId } = await newPerson();
    const others = [];
    for (let n = 0; n < 3; n++) others.push(await visitDashboard(db.pool, api.url, accountId));
    await db.pool.query(`UPDATE dashboard_sessions SET user_agent = $2, network = '203.0.113.0/24' WHERE id = $1`, [
      others[0]!.sessionId,
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) <b>Gecko</b> Firefox/140.0',
    ]);
    const { html } = await person.get('/account');
    expect(html.match(/action="[^"]*\/account\/sessions\/ses_\w+\/end"/g)).toHaveLength(4);
    expect(html.match(/\(this one\)/g)).toHaveLength(1);
    expect(html).toContain('Firefox on Linux');
    expect(html).toContain('203.0.113.0/24');
    const done = await person.post(`/account/sessions/${others[0]!.sessionId}/end`);
    expect([done.status, done.location]).toEqual([303, '/dashboard/account?done=ended']);
    expect((await others[0]!.get('/account')).status).toBe(303);
    expect((await others[1]!.get('/account')).status).toBe(200);
    expect((await person.post('/account/sessions/end-others')).location).toBe('/dashboard/account?done=others');
    expect((await others[1]!.get('/account')).status).toBe(303);
    expect((await person.get('/account')).html).not.toContain('End all other sessions');
  });

  test('ending this one signs out; one of somebody else is not found', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    expect((await one.person.post(`/account/sessions/${other.person.sessionId}/end`)).status).toBe(404);
    expect((await other.person.get('/account')).status).toBe(200);
    const out = await one.person.post(`/account/sessions/${one.person.sessionId}/end`);
    expect([out.status, out.html.includes('<h1>You are signed out</h1>')]).toEqual([200, true]);
    expect(out.headers.get('set-cookie')).toMatch(/^dashboard_session=;/);
    expect((await one.person.get('/account')).status).toBe(303);
  });
});

describe('the deletion', () => {
  test('names what is lost, needs the address typed, ends everything and says good-bye', async () => {
    const { person, email, accountId, apiKey } = await newPerson();
    const { id } = await api.monitor(apiKey);
    const { html } = await person.get('/account');
    expect(html).toContain('The remaining 990 credits are lost and not refunded.');
    for (const typed of ['', 'somebody@example.com', email.toUpperCase(), '"><script>alert(1)</script>']) {
      const refused = await person.post('/account/delete', { email: typed });
      expect(refused.status).toBe(400);
      expect(refused.html).toContain('is not the address of this account');
      expect(refused.html).toMatch(/<details class="danger" open/);
      expect(refused.html).not.toContain('<script>alert');
    }
    expect((await findAccount(db.pool, accountId))!.status).toBe('active');
    const gone = await person.post('/account/delete', { email });
    expect([gone.status, gone.html.includes('<h1>Your account is deleted</h1>')]).toEqual([200, true]);
    expect(gone.headers.get('set-cookie')).toMatch(/^dashboard_session=;/);
    expect((await findAccount(db.pool, accountId))!.status).toBe('deleted');
    expect((await api.call(apiKey, 'GET', `/v1/monitors/${id}`)).status).toBe(401);
    expect((await person.get('/account')).status).toBe(303);
    const notice = mails.findLast(({ to }) => to === email)!;
    expect(notice.subject).toBe('Your account was deleted');
    expect(notice.text.replaceAll(/\s+/g, ' ')).toContain('UTC, in the dashboard.');
    expect(notice.text).not.toContain('program');
  });

  test('is not done by a form of another site', async () => {
    const { person, email, accountId } = await newPerson();
    await person.post('/account/delete', { email }, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
    expect((await findAccount(db.pool, accountId))!.status).toBe('active');
  });
});
