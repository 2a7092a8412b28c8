import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomText } from '../../../shared/domain/identifiers.ts';
import { MailError } from '../../../shared/mail/mail-error.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { findAccount, lockAccount } from '../../../shared/stores/accounts/accounts.ts';
import { insertDashboardSession } from '../../../shared/stores/dashboard/dashboard-sessions.ts';
import { Browser } from '../../support/clients/oauth-browser.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let mails: Mail[] = [];
let refusesMail = '';
beforeAll(async () => {
  db = await createTestDatabase();
  const mailer = {
    send(mail: Mail) {
      if (mail.to === refusesMail) return Promise.reject(new MailError('refused', 550));
      mails.push(mail);
      return Promise.resolve();
    },
  };
  api = await startTestApi(db.pool, { mailer });
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});
beforeEach(async () => {
  mails = [];
  refusesMail = '';
  await db.pool.query('DELETE FROM recent_uses');
});

const newEmail = () => `${randomText(12)}@gmail.com`;
const codeFor = (email: string) => /Your code is (\d{6})/.exec(mails.findLast((mail) => mail.to === email)!.text)![1]!;
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
const subjectsTo = (email: string) => mails.filter(({ to }) => to === email).map(({ subject }) => subject);

async function newPerson(): Promise<TestAccount & { person: DashboardVisitor }> {
  const account = await api.account();
  return { ...account, person: await visitDashboard(db.pool, api.url, account.accountId) };
}

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
    expect(subjectsTo(email)).toEqual(['Your code for another address']);
    expect(subjectsTo(next)).toEqual(['Your code for a new address']);
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
    expect(subjectsTo(next).at(-1)).toBe('This is the address of your account now');
    expect((await person.get('/account')).html).toContain(next);
    expect((await other.get('/account')).status).toBe(303);
    expect((await api.call(apiKey, 'GET', '/v1/account')).body.email).toBe(next);
    // Both codes are used up.
    const again = await person.post('/account/address/codes', { old_code: oldCode, new_code: newCode });
    expect(again.html).toContain('The codes are too old, or were used.');
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
    expect(third.html).toContain('The codes are no longer accepted.');
    await person.post('/account/address/codes', { old_code: oldCode, new_code: newCode });
    expect((await findAccount(db.pool, accountId))!.email).toBe(email);
  });

  test('belongs to the session that asked, and its codes to the change', async () => {
    const { person, email, accountId } = await newPerson();
    const other = await visitDashboard(db.pool, api.url, accountId);
    const next = newEmail();
    await person.post('/account/address', { email: next });
    const codes = { old_code: codeFor(email), new_code: codeFor(next) };
    expect((await other.post('/account/address/codes', codes)).html).toContain('The codes are too old, or were used.');
    expect((await findAccount(db.pool, accountId))!.email).toBe(email);
    // A second request makes the codes of the first useless.
    const later = newEmail();
    await person.post('/account/address', { email: later });
    expect((await person.post('/account/address/codes', codes)).status).toBe(400);
    expect((await findAccount(db.pool, accountId))!.email).toBe(email);
  });

  test('is refused after ten minutes', async () => {
    const { person, email, accountId } = await newPerson();
    const next = newEmail();
    await person.post('/account/address', { email: next });
    await db.setShift('601 seconds');
    const page = await person.post('/account/address/codes', { old_code: codeFor(email), new_code: codeFor(next) });
    await db.setShift('0');
    expect(page.html).toContain('The codes are too old, or were used.');
    expect((await findAccount(db.pool, accountId))!.email).toBe(email);
  });

  test.each([
    ['', 'is not a valid e-mail address'],
    ['"><script>alert(1)</script>', 'is not a valid e-mail address'],
    ['someone@mailinator.com', 'temporary inboxes are not accepted'],
  ])('to %j is refused beside the field, and nothing is mailed', async (email, problem) => {
    const { person } = await newPerson();
    const page = await person.post('/account/address', { email });
    expect(page.status).toBe(400);
    expect(page.html).toContain(problem);
    expect(page.html).not.toContain('<script>alert');
    expect(mails).toEqual([]);
  });

  test('to the same address is refused; to another spelling of the same mailbox it is not', async () => {
    const { person, email, accountId } = await newPerson();
    expect((await person.post('/account/address', { email })).html).toContain('is the address of this account');
    const spelling = email.replace('@', '+work@');
    await changeTo(person, email, spelling);
    expect(await findAccount(db.pool, accountId)).toMatchObject({ email: spelling, mailbox: email });
  });

  test('to the mailbox of another account is refused only after its code, and tells nobody before', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    const taken = await changeTo(one.person, one.email, other.email);
    expect(taken.status).toBe(400);
    expect(taken.html).toContain('Another account has the mailbox of the new address.');
    expect((await findAccount(db.pool, one.accountId))!.email).toBe(one.email);
    expect((await findAccount(db.pool, other.accountId))!.email).toBe(other.email);
  });

  test('of two accounts to one address at the same time succeeds once', async () => {
    const people = [await newPerson(), await newPerson()];
    const next = newEmail();
    const codes: Record<string, string>[] = [];
    for (const { person, email } of people) {
      await person.post('/account/address', { email: next });
      codes.push({ old_code: codeFor(email), new_code: codeFor(next) });
    }
    const pages = await Promise.all(people.map(({ person }, n) => person.post('/account/address/codes', codes[n])));
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 400]);
    const { rows } = await db.pool.query('SELECT FROM accounts WHERE mailbox = $1', [next]);
    expect(rows).toHaveLength(1);
  });

  test('of two accounts that swap their addresses neither deadlocks nor succeeds', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    await one.person.post('/account/address', { email: other.email });
    const first = { old_code: codeFor(one.email), new_code: codeFor(other.email) };
    await other.person.post('/account/address', { email: one.email });
    const second = { old_code: codeFor(other.email), new_code: codeFor(one.email) };
    const pages = await Promise.all([
      one.person.post('/account/address/codes', first),
      other.person.post('/account/address/codes', second),
    ]);
    expect(pages.map(({ status }) => status)).toEqual([400, 400]);
  });

  test('is over when one of the mails cannot be sent', async () => {
    const { person, email } = await newPerson();
    refusesMail = email;
    const failed = await person.post('/account/address', { email: newEmail() });
    expect([failed.status, failed.html.includes('The code could not be mailed.')]).toEqual([502, true]);
    expect((await person.get('/account/address')).html).toContain('<h1>Change the address</h1>');
  });

  test('to a mailbox that signs up at the same time ends with one account of it, and neither hangs', async () => {
    for (let n = 0; n < 5; n++) {
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

  test('is limited like codes of a sign-in', async () => {
    const { person } = await newPerson();
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await person.post('/account/address', { email: newEmail() })).status);
    expect(statuses).toEqual([303, 303, 303, 303, 303, 400]);
  });

  test('of an account whose address no mail can be sent to is refused', async () => {
    const { person, accountId } = await newPerson();
    await db.pool.query(`UPDATE accounts SET email = 'demo@localhost' WHERE id = $1`, [accountId]);
    const page = await person.post('/account/address', { email: newEmail() });
    expect(page.html).toContain('The address of this account cannot be changed.');
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

test('a session that is opened during the change waits for it, and is not opened', async () => {
  const { accountId, email } = await api.account();
  const asked = { tokenHash: Buffer.from(accountId), id: 'ses_late', accountId, email, network: '', userAgent: '' };
  const opening: Promise<boolean>[] = [];
  await inTransaction(db.pool, async (client) => {
    await lockAccount(client, accountId);
    opening.push(insertDashboardSession(db.pool, { ...asked, validSeconds: 60 }));
    await eventually('the session waits for the account', async () => {
      const { rowCount } = await db.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    await client.query('UPDATE accounts SET email = $2 WHERE id = $1', [accountId, newEmail()]);
  });
  expect(await Promise.all(opening)).toEqual([false]);
});
