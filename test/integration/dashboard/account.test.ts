import { afterAll, beforeAll, describe, expect, test, beforeEach } from 'vitest';
import { MailError } from '../../../shared/mail/mailer.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { readSwitchedOff } from '../../../shared/notices/notices.ts';
import { markMatch, moveReadPosition } from '../../../shared/matches/match-marks.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor, VisitedPage } from '../../support/dashboard/dashboard-visitor.ts';
import { exportLinesOf, insertDeliveredMatches } from '../../support/dashboard/exported-data.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import { insertPayment } from '../../../shared/billing/payments.ts';

let db: TestDatabase;
let api: TestApi;
const mails: Mail[] = [];
let refusesMail = '';
beforeAll(async () => {
  db = await createTestDatabase();
  const mailer = {
    send(mail: Mail) {
      if (mail.to === refusesMail) return Promise.reject(new MailError('refused', 550));
      return Promise.resolve(void mails.push(mail));
    },
  };
  api = await startTestApi(db.pool, { mailer });
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});
beforeEach(async () => {
  mails.length = 0;
  refusesMail = '';
  await db.pool.query('DELETE FROM recent_uses');
});

async function newPerson(): Promise<TestAccount & { person: DashboardVisitor }> {
  const account = await api.account();
  return { ...account, person: await visitDashboard(db.pool, api.url, account.accountId) };
}

describe('mails', () => {
  test('are all switched on at first, and each can be switched off', async () => {
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
    expect((await person.get('/account')).html).not.toContain('Sign out all other sessions');
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
  test('needs the address typed, ends everything and says good-bye', async () => {
    const { person, email, accountId, apiKey } = await newPerson();
    const { id } = await api.monitor(apiKey);
    for (const typed of ['', 'somebody@example.com', email.toUpperCase(), '"><script>alert(1)</script>']) {
      const refused = await person.post('/account/delete', { email: typed });
      expect(refused.status).toBe(400);
      expect(refused.html).toContain('is not the address of this account');
      expect(refused.html).toMatch(/<details class="danger" open/);
      expect(refused.html).not.toContain('<script>alert');
    }
    expect((await findAccount(db.pool, accountId))!.status).toBe('active');
    const gone = await person.post('/account/delete', { email });
    expect([gone.status, gone.html.includes('<h1>Your account was deleted</h1>')]).toEqual([200, true]);
    expect(gone.headers.get('set-cookie')).toMatch(/^dashboard_session=;/);
    expect((await findAccount(db.pool, accountId))!.status).toBe('deleted');
    expect((await api.call(apiKey, 'GET', `/v1/monitors/${id}`)).status).toBe(401);
    expect((await person.get('/account')).status).toBe(303);
    const notice = mails.findLast(({ to }) => to === email)!;
    expect(notice.subject).toBe('Your account was deleted');
  });
});

describe('keys', () => {
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
      expect(list.html).not.toContain(key);
      expect(mails.findLast(({ to }) => to === email)!.text).not.toContain(key);
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
  });

  describe('the list', () => {
    test('revokes a key at once, and no key of somebody else', async () => {
      const [one, other] = [await newPerson(), await newPerson()];
      const id = one.apiKey.slice(3, 11);
      const stranger = await other.person.post(`/keys/${id}/revoke`);
      expect(stranger.status).toBe(404);
      expect((await api.call(one.apiKey, 'GET', '/v1/account')).status).toBe(200);
      const done = await one.person.post(`/keys/${id}/revoke`);
      expect([done.status, done.location]).toEqual([303, '/dashboard/keys?done=revoked']);
      expect((await api.call(one.apiKey, 'GET', '/v1/account')).status).toBe(401);
      expect((await one.person.post(`/keys/nothing/revoke`)).status).toBe(404);
    });
  });
});

describe('the address', () => {
  const newEmail = () => `${randomText(12)}@gmail.com`;

  const codeFor = (email: string) =>
    /Your code is (\d{6})/.exec(mails.findLast((mail) => mail.to === email)!.text)![1]!;

  const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

  const subjectsTo = (email: string) => mails.filter(({ to }) => to === email).map(({ subject }) => subject);

  /** Changes an address with both codes. */
  async function changeTo(person: DashboardVisitor, oldEmail: string, email: string) {
    const asked = await person.post('/account/address', { email });
    expect([asked.status, asked.location]).toEqual([303, '/dashboard/account/address']);
    return person.post('/account/address/codes', { old_code: codeFor(oldEmail), new_code: codeFor(email) });
  }

  /** Opens an account as a person does, with its free credits if there are any. */
  async function signUp(email: string): Promise<number> {
    const browser = new Browser(fetch);
    await browser.open(`${api.url}/dashboard/sign-in`);
    await browser.submit('sign-in', { email });
    await browser.submit('sign-in/code', { code: codeFor(email) });
    return (await findAccount(db.pool, email))!.balance;
  }

  describe('a change of the address', () => {
    test('needs the codes of both addresses, ends other sessions, and tells both', async () => {
      const { person, email, accountId, apiKey } = await newPerson();
      const other = await visitDashboard(db.pool, api.url, accountId);
      const next = newEmail();
      await person.post('/account/address', { email: next });
      expect(subjectsTo(email)).toEqual(['Your code to change your address']);
      expect(subjectsTo(next)).toEqual(['Your code to confirm your new address']);
      const page = await person.get('/account/address');
      expect(page.html).toContain(`Code mailed to ${email}`);
      expect(page.html).toContain(`Code mailed to ${next}`);
      const [oldCode, newCode] = [codeFor(email), codeFor(next)];
      for (const [fields, problems] of [
        [{ old_code: oldCode, new_code: wrong(newCode) }, [false, true]],
        [{ old_code: wrong(oldCode), new_code: newCode }, [true, false]],
        // The other's code.
        [{ old_code: newCode, new_code: oldCode }, [true, true]],
      ] as const) {
        const refused = await person.post('/account/address/codes', fields);
        expect(refused.status).toBe(400);
        const shown = ['old_code', 'new_code'].map((name) => refused.html.includes(`id="${name}-problem"`));
        expect(shown).toEqual(problems);
      }
      expect((await findAccount(db.pool, accountId))!.email).toBe(email);
      const code = `${oldCode.slice(0, 3)} ${oldCode.slice(3)}`;
      const done = await person.post('/account/address/codes', { old_code: code, new_code: newCode });
      expect([done.status, done.location]).toEqual([303, '/dashboard/account?done=address']);
      expect(await findAccount(db.pool, accountId)).toMatchObject({ email: next, mailbox: next });
      expect(subjectsTo(email).at(-1)).toBe('The address of your account was changed');
      expect(subjectsTo(next).at(-1)).toBe('This is now the address of your account');
      expect((await person.get('/account')).html).toContain(next);
      expect((await other.get('/account')).status).toBe(303);
      expect((await api.call(apiKey, 'GET', '/v1/account')).body.email).toBe(next);
      // Both codes are used up.
      const again = await person.post('/account/address/codes', { old_code: oldCode, new_code: newCode });
      expect(again.html).toContain('The codes have expired or were already used.');
    });

    test('is over after three wrong codes of one address, even with right ones', async () => {
      const { person, email, accountId } = await newPerson();
      const next = newEmail();
      await person.post('/account/address', { email: next });
      const [oldCode, newCode] = [codeFor(email), codeFor(next)];
      for (let n = 0; n < 2; n++) {
        const page = await person.post('/account/address/codes', { old_code: wrong(oldCode), new_code: newCode });
        expect(page.html).toContain(`Tries left: ${2 - n}.`);
      }
      const third = await person.post('/account/address/codes', { old_code: wrong(oldCode), new_code: newCode });
      expect(third.html).toContain('The codes are no longer valid.');
      await person.post('/account/address/codes', { old_code: oldCode, new_code: newCode });
      expect((await findAccount(db.pool, accountId))!.email).toBe(email);
    });

    test('belongs to the session that asked, and its codes to the change', async () => {
      const { person, email, accountId } = await newPerson();
      const other = await visitDashboard(db.pool, api.url, accountId);
      const next = newEmail();
      await person.post('/account/address', { email: next });
      const codes = { old_code: codeFor(email), new_code: codeFor(next) };
      expect((await other.post('/account/address/codes', codes)).html).toContain(
        'The codes have expired or were already used.',
      );
      expect((await findAccount(db.pool, accountId))!.email).toBe(email);
      // A second request makes the codes of the first useless.
      const later = newEmail();
      await person.post('/account/address', { email: later });
      expect((await person.post('/account/address/codes', codes)).status).toBe(400);
      expect((await findAccount(db.pool, accountId))!.email).toBe(email);
    });

    test('to no address or the same one is refused; to another spelling of the same mailbox it is not', async () => {
      const { person, email, accountId } = await newPerson();
      const hostile = await person.post('/account/address', { email: '"><script>alert(1)</script>' });
      expect([hostile.status, hostile.html.includes('<script>alert')]).toEqual([400, false]);
      expect((await person.post('/account/address', { email })).html).toContain(
        'is already the address of this account',
      );
      expect(mails).toEqual([]);
      const spelling = email.replace('@', '+work@');
      await changeTo(person, email, spelling);
      expect(await findAccount(db.pool, accountId)).toMatchObject({ email: spelling, mailbox: email });
    });

    test('to the mailbox of another account is refused only after its code, and tells nobody before', async () => {
      const [one, other] = [await newPerson(), await newPerson()];
      const taken = await changeTo(one.person, one.email, other.email);
      expect(taken.status).toBe(400);
      expect(taken.html).toContain('Another account already uses the mailbox of the new address.');
      expect((await findAccount(db.pool, one.accountId))!.email).toBe(one.email);
      expect((await findAccount(db.pool, other.accountId))!.email).toBe(other.email);
    });

    test('is over when one of the mails cannot be sent', async () => {
      const { person, email } = await newPerson();
      refusesMail = email;
      const failed = await person.post('/account/address', { email: newEmail() });
      expect([failed.status, failed.html.includes('The code could not be mailed. Try again later.')]).toEqual([
        502,
        true,
      ]);
      expect((await person.get('/account/address')).html).toContain('<h1>Change the address</h1>');
    });

    test('to a mailbox that signs up at the same time ends with one account of it, and neither hangs', async () => {
      for (let n = 0; n < 2; n++) {
        await db.pool.query('DELETE FROM recent_uses');
        const { person, email, accountId } = await newPerson();
        const next = newEmail();
        const newcomer = new Browser(fetch);
        await newcomer.open(`${api.url}/dashboard/sign-in`);
        await newcomer.submit('sign-in', { email: next });
        const signInCode = codeFor(next);
        await person.post('/account/address', { email: next });
        const codes = { old_code: codeFor(email), new_code: codeFor(next) };
        const [changed, entered] = await Promise.all([
          person.post('/account/address/codes', codes),
          newcomer.submit('sign-in/code', { code: signInCode }),
        ]);
        const owner = (await findAccount(db.pool, next))!;
        expect([changed.status, owner.id === accountId]).toEqual(owner.id === accountId ? [303, true] : [400, false]);
        expect(entered.status).toBe(200);
      }
    });
  });

  describe('free credits', () => {
    test('are given once to a mailbox, also when addresses are changed in between', async () => {
      const [first, second] = [newEmail(), newEmail()];
      expect(await signUp(first)).toBe(200);
      const account = (await findAccount(db.pool, first))!;
      const person = await visitDashboard(db.pool, api.url, account.id);
      await changeTo(person, first, second);
      // The old mailbox opens an account again, and later the new one does.
      expect(await signUp(first)).toBe(0);
      await changeTo(person, second, newEmail());
      expect(await signUp(second)).toBe(0);
    });
  });

  test('codes that were mailed to the old address before open nothing afterwards', async () => {
    const email = newEmail();
    await signUp(email);
    const account = (await findAccount(db.pool, email))!;
    const person = await visitDashboard(db.pool, api.url, account.id);
    const thief = new Browser(fetch);
    await thief.open(`${api.url}/dashboard/sign-in`);
    await thief.submit('sign-in', { email });
    const code = codeFor(email);
    await changeTo(person, email, newEmail());
    const page = await thief.submit('sign-in/code', { code });
    expect(page.html).toContain('<h1>Sign in</h1>');
    expect(await findAccount(db.pool, email)).toBeUndefined();
  });
});

describe('the export', () => {
  test('all data of an account comes as lines of JSON, without secrets, and ends with their number', async () => {
    const { accountId, apiKey, email } = await api.account({ credits: 5_000 });
    const stranger = await api.account();
    await api.monitor(stranger.apiKey, { name: 'of a stranger' });
    const created = await api.call(apiKey, 'POST', '/v1/monitors', {
      name: 'jobs',
      keywords: ['rust'],
      webhook_url: 'https://hooks.example.net/secret-path',
    });
    const { monitor, webhook_secret: secret } = created.body as { monitor: { id: string }; webhook_secret: string };
    await api.call(apiKey, 'POST', `/v1/monitors/${monitor.id}/mutes`, { kind: 'author', value: 'u/spammer' });
    await insertDeliveredMatches(db.pool, { monitorId: monitor.id, count: 250 });
    const marked = { accountId, monitorId: monitor.id };
    await markMatch(db.pool, { ...marked, seq: 7 }, 'bookmarked');
    await moveReadPosition(db.pool, { ...marked, seq: 9 });
    const payment = { id: 'pay_1', accountId, pack: 9, amount: 900, currency: 'usd', credits: 5_000 } as const;
    await insertPayment(db.pool, { ...payment, mode: 'live' });
    const person = await visitDashboard(db.pool, api.url, accountId);
    await person.post('/account/notices', { kinds: ['low_balance'] });
    const answer = await person.get('/account/export');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="forum-monitor-${accountId}.jsonl"`);
    const lines = exportLinesOf(answer.html);
    const ofType = (type: string) => lines.filter((line) => line.type === type);
    expect([...new Set(lines.map(({ type }) => type))]).toEqual([
      'export',
      'account',
      'notice',
      'key',
      'session',
      'networks',
      'payment',
      'ledger',
      'monitor',
      'mute',
      'match',
      'mark',
      'seen',
      'delivery',
      'end',
    ]);
    expect(ofType('account')).toMatchObject([{ id: accountId, email }]);
    expect(ofType('notice').map(({ kind, mailed }) => [kind, mailed])).toEqual([
      ['low_balance', true],
      ['monitor_paused', false],
      ['webhook_failing', false],
      ['webhook_recovered', false],
    ]);
    expect(ofType('monitor')).toMatchObject([{ id: monitor.id, name: 'jobs', keywords: ['rust'] }]);
    expect(ofType('mute')).toMatchObject([{ monitor_id: monitor.id, value: 'spammer' }]);
    expect(ofType('match').map(({ id }) => id)).toEqual(
      Array.from({ length: 250 }, (_, n) => `mat_${monitor.id.slice(4)}_${String(n + 1).padStart(12, '0')}`),
    );
    expect(ofType('mark')).toMatchObject([{ match_id: matchId(monitor.id, 7), mark: 'bookmarked' }]);
    expect(ofType('seen')).toMatchObject([{ monitor_id: monitor.id, up_to: matchId(monitor.id, 9) }]);
    expect(ofType('delivery')).toHaveLength(250);
    expect(ofType('payment')).toMatchObject([{ id: 'pay_1', amount: 900, status: 'started', paid_at: null }]);
    expect(ofType('ledger').map(({ kind }) => kind)).toEqual(['monitor_create', 'grant']);
    expect(lines.at(-1)).toEqual({ type: 'end', lines: lines.length - 1 });
    for (const hidden of [secret, apiKey.slice(11), person.token, 'of a stranger', stranger.email]) {
      expect(answer.html).not.toContain(hidden);
    }
  });

  test('it is limited, and only for its own session', async () => {
    const { accountId } = await api.account();
    const person = await visitDashboard(db.pool, api.url, accountId);
    const statuses = [];
    for (let n = 0; n < 11; n++) statuses.push((await person.get('/account/export')).status);
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429]);
    const signedOut = await fetch(`${api.url}/dashboard/account/export`, { redirect: 'manual' });
    expect(signedOut.status).toBe(303);
  });
});
