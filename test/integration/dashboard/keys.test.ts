import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeAccount } from '../../../shared/stores/accounts/close-account.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor, VisitedPage } from '../../support/dashboard/dashboard-visitor.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';

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

const SECRET = /fk_[0-9a-z]{8}_[0-9a-zA-Z]+|fk_[0-9a-z]{30,}/;
const secretIn = ({ html }: VisitedPage) => SECRET.exec(/id="new-key"[^>]*>([^<]+)</.exec(html)?.[1] ?? '')?.[0];
const onceIn = ({ html }: VisitedPage) => /name="once" value="([0-9a-z]{20})"/.exec(html)![1]!;

async function countKeys(accountId: string): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(
    'SELECT count(*) AS n FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL',
    [accountId],
  );
  return rows[0]!.n;
}

describe('creating a key', () => {
  test('shows it once, with what it may do, and it works', async () => {
    const { person, email } = await newPerson();
    const page = await person.post('/keys', {
      name: 'laptop',
      scopes: ['forum:read', 'monitors:read'],
      once: 'a'.repeat(20),
    });
    expect([page.status, page.html.includes('<h1>Your new key</h1>')]).toEqual([201, true]);
    expect(page.headers.get('cache-control')).toBe('no-store');
    const key = secretIn(page)!;
    expect((await api.call(key, 'GET', '/v1/monitors')).status).toBe(200);
    expect((await api.call(key, 'GET', '/v1/account')).status).toBe(403);
    const list = await person.get('/keys');
    expect(list.html).toContain('laptop');
    expect(list.html).toContain('See your monitors, their matches and deliveries');
    expect(list.html).not.toContain(key);
    const mail = mails.findLast(({ to }) => to === email)!;
    expect(mail.text.replaceAll(/\s+/g, ' ')).toContain('UTC, in the dashboard. Its first characters are');
    expect(mail.text).not.toContain(key);
  });

  test('a form that is sent twice, also at the same time, creates one key and shows it twice', async () => {
    const { person, accountId } = await newPerson();
    const once = onceIn(await person.get('/keys'));
    const form = { name: 'ci', scopes: ['forum:read'], once };
    const pages = await Promise.all([person.post('/keys', form), person.post('/keys', form)]);
    const again = await person.post('/keys', form);
    const keys = [...pages, again].map(secretIn);
    expect(keys[0]).toMatch(SECRET);
    expect(new Set(keys).size).toBe(1);
    // The account had one before.
    expect(await countKeys(accountId)).toBe(2);
    expect(mails.filter(({ text }) => text.includes('“ci”') && text.includes(keys[0]!.slice(0, 11)))).toHaveLength(1);
    const changed = await person.post('/keys', { ...form, name: 'another' });
    expect(secretIn(changed)).not.toBe(keys[0]);
    expect(await countKeys(accountId)).toBe(3);
  });

  test.each([
    [{ name: '', scopes: ['forum:read'] }, 'name', 'must not be empty'],
    [{ name: 'x'.repeat(201), scopes: ['forum:read'] }, 'name', 'must have at most 200 characters'],
    [{ name: 'x', scopes: [] }, 'scopes', 'choose at least one'],
    [{ name: 'x', scopes: ['forum:read', 'everything'] }, 'scopes', 'scopes[1]'],
  ])('%j is refused beside the field %s: %s', async (fields, _field, problem) => {
    const { person, accountId } = await newPerson();
    const page = await person.post('/keys', fields);
    expect(page.status).toBe(400);
    expect(page.html).toContain(problem);
    expect(page.html).toContain(`value="${fields.name}"`);
    expect(await countKeys(accountId)).toBe(1);
  });

  test('names are text, wherever they are shown', async () => {
    const { person } = await newPerson();
    const name = '"><img src=x onerror=alert(1)>';
    const created = await person.post('/keys', { name, scopes: ['forum:read'] });
    const list = await person.get('/keys');
    for (const { html } of [created, list]) {
      expect(html).not.toContain('<img');
      expect(html).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;');
    }
  });

  test('the 21st key is refused, with what was typed', async () => {
    const { person, accountId } = await newPerson();
    for (let n = 0; n < 19; n++) await person.post('/keys', { name: `key ${n}`, scopes: ['forum:read'] });
    const page = await person.post('/keys', { name: 'one more', scopes: ['account'] });
    expect(page.status).toBe(400);
    expect(page.html).toContain('has 20 keys already; revoke one first');
    expect(await countKeys(accountId)).toBe(20);
  });
});

describe('the list', () => {
  test('shows when a key was last used, which is written once a minute', async () => {
    const { person, apiKey, accountId } = await newPerson();
    expect((await person.get('/keys')).html).toContain('never used');
    const lastUse = async () => {
      const { rows } = await db.pool.query<{ at: Date; version: string }>(
        'SELECT last_used_at AS at, xmin::text AS version FROM api_keys WHERE account_id = $1',
        [accountId],
      );
      return rows[0]!;
    };
    await api.call(apiKey, 'GET', '/v1/account');
    const first = await lastUse();
    for (let n = 0; n < 5; n++) await api.call(apiKey, 'GET', '/v1/account');
    expect(await lastUse()).toEqual(first);
    expect((await person.get('/keys')).html).toMatch(/<time datetime="[^"]+">\d+ s ago<\/time>/);
    await db.setShift('61 seconds');
    await api.call(apiKey, 'GET', '/v1/account');
    expect((await lastUse()).version).not.toBe(first.version);
    await db.setShift('0');
  });

  test('revokes a key at once, and no key of somebody else', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    const id = one.apiKey.slice(3, 11);
    const stranger = await other.person.post(`/keys/${id}/revoke`);
    expect(stranger.status).toBe(404);
    expect((await api.call(one.apiKey, 'GET', '/v1/account')).status).toBe(200);
    const done = await one.person.post(`/keys/${id}/revoke`);
    expect([done.status, done.location]).toEqual([303, '/dashboard/keys?done=revoked']);
    expect((await one.person.get('/keys?done=revoked')).html).toContain('The key was revoked. It no longer works.');
    expect((await api.call(one.apiKey, 'GET', '/v1/account')).status).toBe(401);
    expect((await one.person.get('/keys')).html).toContain('This account has no key yet.');
    expect((await one.person.post(`/keys/nothing/revoke`)).status).toBe(404);
  });

  test('an unknown word after a redirect is not shown', async () => {
    const { person } = await newPerson();
    expect((await person.get('/keys?done=%3Cb%3Ehacked')).html).not.toContain('hacked');
  });

  test('a form of another site creates and revokes nothing', async () => {
    const { person, accountId, apiKey } = await newPerson();
    const fields = { name: 'x', scopes: ['forum:read'] };
    const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await person.post('/keys', fields, elsewhere)).status).toBe(400);
    expect((await person.post(`/keys/${apiKey.slice(3, 11)}/revoke`, {}, elsewhere)).status).toBe(400);
    expect(await countKeys(accountId)).toBe(1);
    expect((await api.call(apiKey, 'GET', '/v1/account')).status).toBe(200);
  });

  test('nothing is created for an account that was deleted', async () => {
    const { person, accountId } = await newPerson();
    await closeAccount(db.pool, accountId, { mailboxHash: Buffer.from(accountId) });
    const page = await person.post('/keys', { name: 'x', scopes: ['forum:read'] });
    expect([page.status, page.location]).toEqual([303, '/dashboard/sign-in']);
    expect(await countKeys(accountId)).toBe(0);
  });
});
