import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '../../support/clients/oauth-browser.ts';
import { APP_URL, newEmail, startSignupApp } from '../../support/fixtures/signup-app.ts';
import { codeIn, linkIn } from '../../support/fakes/smtp-mail.ts';
import { shownBy, SignupBench, wrongCode } from '../../support/fixtures/signup-bench.ts';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import { keyRecovered, recoverySent } from '../../../schemas/api/signup.ts';
import { hashApiKey } from '../../../shared/accounts/rules/credentials.ts';
import { mailboxOf } from '../../../shared/accounts/rules/mailbox.ts';
import { closeAccount, freezeAccount } from '../../../shared/accounts/close-account.ts';
import { insertAccount } from '../../../shared/accounts/accounts.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import { newAccountId } from '../../../shared/rules/identifiers.ts';

let bench: SignupBench;
beforeAll(async () => {
  bench = await SignupBench.create();
});
afterAll(() => bench.stop());
beforeEach(() => bench.reset());

/** An account without a key, as signing in for the tool server opens it. */
async function keylessAccount(email = newEmail()): Promise<{ id: string; email: string }> {
  const id = newAccountId();
  await insertAccount(bench.db.pool, { id, email, mailbox: mailboxOf(email) });
  return { id, email };
}

async function keysOf(accountId: string): Promise<{ name: string; scopes: string[]; hash: Buffer }[]> {
  const { rows } = await bench.db.pool.query<{ name: string; scopes: string[]; hash: Buffer }>(
    'SELECT name, scopes, hash FROM api_keys WHERE account_id = $1 ORDER BY created_at, id',
    [accountId],
  );
  return rows;
}

const ask = (email: string) => bench.ask(email, 'recover');

test('an account that has no key gets one by a mailed code, with all permissions, and its owner a notice', async () => {
  const { id, email } = await keylessAccount();
  const sent = await bench.app.recover(email);
  expect([sent.status, recoverySent.parse(sent.body)]).toMatchObject([
    200,
    {
      status: 'code_sent',
      recovery_token: expect.stringMatching(/^sgn_[0-9a-z]{32}$/) as string,
      expires_in: 600,
      next: expect.stringContaining(`recovery_token to POST ${APP_URL}/api/agent/recover/verify`) as string,
    },
  ]);
  const mail = bench.smtp.mailTo(email);
  expect(mail.headers.get('subject')).toEqual(['Your recovery code']);
  const reply = await bench.app.recoverKey(sent.body.recovery_token, codeIn(mail));
  expect(reply.status).toBe(201);
  const { api_key } = keyRecovered.parse(reply.body);
  expect(await keysOf(id)).toEqual([{ name: 'recovered', scopes: KEY_SCOPES, hash: hashApiKey(api_key) }]);
  const notice = bench.smtp.mailTo(email);
  expect(notice.headers.get('subject')).toEqual(['A new API key for your account']);
  expect(notice.text).toContain(`fk_${api_key.slice(3, 11)}.`);
  expect(notice.raw).not.toContain(api_key.slice(11));
});

describe('whether an address has an account', () => {
  test('shows neither in the answer nor in the mail, and accounts are not even read', async () => {
    const [known, unknown] = [(await keylessAccount()).email, newEmail()];
    await bench.db.pool.query('ALTER TABLE accounts RENAME TO accounts_away');
    const replies = [await bench.app.recover(known), await bench.app.recover(unknown)] as const;
    await bench.db.pool.query('ALTER TABLE accounts_away RENAME TO accounts');
    expect(shownBy(replies[0])).toEqual(shownBy(replies[1]));
    const texts = [known, unknown].map((email) => bench.smtp.mailTo(email).text.replace(/\d{6}/, 'CODE'));
    expect(texts[0]).toEqual(texts[1]);
  });

  test('is told only to who read the mail', async () => {
    const { token, code } = await ask(newEmail());
    expect(await bench.app.recoverKey(token, wrongCode(code))).toMatchObject({ code: 'invalid_code' });
    expect(await bench.app.recoverKey(token, code)).toMatchObject({ status: 404, code: 'not_found' });
  });
});

test.each([
  ['a plus tag', 'ada@example.com', 'ada+x@example.com'],
  ['dots at a provider that ignores them', 'cleo.b@gmail.com', 'cleob@gmail.com'],
  ['other capital letters', 'Eve@example.com', 'eve@example.com'],
])('%s is another address: it gets no key', async (_, opened, given) => {
  const { id } = await keylessAccount(opened);
  const { token, code } = await ask(given);
  expect(await bench.app.recoverKey(token, code)).toMatchObject({ status: 404, code: 'not_found' });
  expect(await keysOf(id)).toEqual([]);
  // The spelling of the host does not matter.
  const [name, host] = opened.split('@') as [string, string];
  await bench.app.recover(`${name}@${host.toUpperCase()}`);
  expect(bench.smtp.mailTo(opened).text).toContain('Your code is');
});

describe('codes', () => {
  test('of one purpose are worth nothing for another', async () => {
    const { id, email } = await keylessAccount();
    const [signup, recovery] = [await bench.ask(email), await ask(email)];
    const swapped = [
      await bench.app.recoverKey(signup.token, signup.code),
      await bench.app.verify(recovery.token, recovery.code),
    ];
    expect(swapped.map(({ code }) => code)).toEqual(['invalid_recovery_token', 'invalid_signup_token']);
    expect(await keysOf(id)).toEqual([]);
    expect((await bench.app.recoverKey(recovery.token, recovery.code)).status).toBe(201);
  });

  test('work once, also when fifty come together', async () => {
    const { id, email } = await keylessAccount();
    const { token, code } = await ask(email);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, at) => bench.apps[at % 2]!.recoverKey(token, code)),
    );
    const kinds = replies.map(({ status, code: refusal }) => refusal ?? status).sort();
    expect(kinds).toEqual([201, ...Array<string>(49).fill('invalid_recovery_token')]);
    expect(await keysOf(id)).toHaveLength(1);
  });
});

test('wrong codes of all purposes count together; then a mail holds a link, whose page shows the key once', async () => {
  const { id, email } = await keylessAccount();
  for (const asked of ['signUp', 'recover'] as const) {
    const { body } = await bench.app[asked](email);
    const code = codeIn(bench.smtp.mailTo(email));
    for (let by = 1; by <= 3; by++) {
      const token = body.signup_token ?? body.recovery_token;
      await bench.app[asked === 'signUp' ? 'verify' : 'recoverKey'](token, wrongCode(code, by));
    }
  }
  await bench.app.recover(email);
  const mail = bench.smtp.mailTo(email);
  expect(mail.headers.get('subject')).toEqual(['Your recovery link']);
  const link = linkIn(mail);
  expect(link).toContain(`${APP_URL}/api/agent/recover/link?token=lnk_`);
  const browser = new Browser((url, init) => fetch(String(url).replace(APP_URL, bench.apps[0].url), init));
  // The page of sign-up does not take it.
  await browser.open(link.replace('/recover/link', '/link'));
  expect((await browser.submit('/link')).status).toBe(400);
  await browser.open(link);
  expect(await keysOf(id)).toEqual([]);
  const shown = await browser.submit('/link');
  expect(shown.status).toBe(201);
  const key = /fk_[0-9a-z]{40}/.exec(shown.html)![0];
  expect(await keysOf(id)).toMatchObject([{ hash: hashApiKey(key) }]);
  await browser.open(link);
  expect((await browser.submit('/link')).status).toBe(400);
  expect(await keysOf(id)).toHaveLength(1);
});

test('a frozen account is told so, a deleted one is unknown, and 20 keys are no obstacle', async () => {
  const frozen = await keylessAccount();
  await freezeAccount(bench.db.pool, frozen.id);
  const cold = await ask(frozen.email);
  expect(await bench.app.recoverKey(cold.token, cold.code)).toMatchObject({
    status: 403,
    code: 'account_frozen',
  });
  const deleted = await keylessAccount();
  await closeAccount(bench.db.pool, deleted.id, { mailboxHash: Buffer.from(deleted.id) });
  const gone = await ask(deleted.email);
  expect(await bench.app.recoverKey(gone.token, gone.code)).toMatchObject({ status: 404, code: 'not_found' });
  const full = await keylessAccount();
  for (let each = 0; each < 20; each++) await issueApiKey(bench.db.pool, full.id, 'lost');
  const { token, code } = await ask(full.email);
  expect((await bench.app.recoverKey(token, code)).status).toBe(201);
});

test('existing accounts get keys when sign-up is off', async () => {
  const closed = await startSignupApp(bench.db.pool, { smtpUrl: bench.smtp.url, enabled: false });
  const { email } = await keylessAccount();
  expect(await closed.signUp(email)).toMatchObject({ status: 503, code: 'agent_signup_disabled' });
  const { body } = await closed.recover(email);
  expect((await closed.recoverKey(body.recovery_token, codeIn(bench.smtp.mailTo(email)))).status).toBe(201);
  await closed.stop();
});

test('closing an account while keys are recovered: no deadlock, and no key works afterwards', async () => {
  for (let round = 0; round < 4; round++) {
    const { id, email } = await keylessAccount();
    const asked = [await ask(email), await ask(email), await ask(email)];
    const closing = closeAccount(bench.db.pool, id, { mailboxHash: Buffer.from(id) });
    const replies = await Promise.all(asked.map(({ token, code }, at) => bench.apps[at % 2]!.recoverKey(token, code)));
    expect(await closing).toBe(true);
    const kinds = replies.map(({ status, code }) => code ?? String(status));
    expect(kinds.filter((kind) => !['201', 'not_found', 'invalid_recovery_token'].includes(kind))).toEqual([]);
    const { rowCount } = await bench.db.pool.query(
      'SELECT FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL',
      [id],
    );
    expect(rowCount).toBe(0);
    await bench.db.pool.query('DELETE FROM recent_uses');
  }
});
