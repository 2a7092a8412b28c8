import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMailDomainCheck } from '../../../shared/mail/mail-domain.ts';
import type { MailResolver } from '../../../shared/mail/mail-domain.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { newEmail, startSignupApp } from '../../support/fixtures/signup-app.ts';
import { SignupBench } from '../../support/fixtures/signup-bench.ts';
import type { SignupReply } from '../../support/fixtures/signup-app.ts';

const SIGNUP = '/api/agent/signup';
const VERIFY = '/api/agent/verify';
const RECOVER = '/api/agent/recover/verify';
const TOKEN = `sgn_${'0'.repeat(32)}`;

let bench: SignupBench;
beforeAll(async () => {
  bench = await SignupBench.create();
});
afterAll(() => bench.stop());
beforeEach(() => bench.reset());

/** Rows that a refused request must not create, and mails that it must not send. */
async function traces(): Promise<unknown> {
  const { rows } = await bench.db.pool.query(
    `SELECT (SELECT count(*) FROM signups) AS signups, (SELECT count(*) FROM accounts) AS accounts,
       (SELECT count(*) FROM recent_uses) AS uses, (SELECT count(*) FROM credited_mailboxes) AS credited`,
  );
  return { ...rows[0], mails: bench.smtp.received.length };
}

function expectRefusal(reply: SignupReply, status: number, code: string, message: string): void {
  expect([reply.status, reply.code]).toEqual([status, code]);
  expect(reply.message.startsWith(message), `${reply.message} begins with ${message}`).toBe(true);
}

describe('refused before any work is done', () => {
  test.each<[string, unknown, number, string, string]>([
    [SIGNUP, { email: { toString: 'a@example.com' } }, 400, 'invalid_request', 'email: must be a single string'],
    [SIGNUP, { email: 'a@example.com', Email: 'b' }, 400, 'invalid_request', 'Email: is not recognized'],
    [SIGNUP, '{"email":', 400, 'invalid_request', 'body: must be complete and valid JSON'],
    [SIGNUP, { email: 'a@localhost' }, 400, 'invalid_email', 'email: '],
    [SIGNUP, { email: 'a@example.com\r\nRCPT TO:<b@example.com>' }, 400, 'invalid_email', 'email: '],
    [SIGNUP, { email: 'a@example.com,b@example.com' }, 400, 'invalid_email', 'email: '],
    [SIGNUP, { email: '\ud800@example.com' }, 400, 'invalid_email', 'email: '],
    [SIGNUP, { email: 'a@mailinator.com' }, 400, 'disposable_email', 'email: temporary inboxes'],
    [SIGNUP, JSON.stringify({ email: 'a'.repeat(4_096) }), 413, 'payload_too_large', 'body: must be at most 4 KiB.'],
    [VERIFY, {}, 400, 'invalid_request', 'signup_token: is required; code: is required'],
    [VERIFY, { signup_token: TOKEN, code: '123456\n' }, 400, 'invalid_request', 'code: must be 6 digits'],
    [VERIFY, { signup_token: TOKEN, code: '١٢٣٤٥٦' }, 400, 'invalid_request', 'code: must be 6 digits'],
    [VERIFY, { signup_token: TOKEN, code: '123456' }, 400, 'invalid_signup_token', 'signup_token: '],
    [VERIFY, { signup_token: '\0\ud800', code: '123456' }, 400, 'invalid_signup_token', 'signup_token: '],
    [RECOVER, { recovery_token: 'x', code: '123456' }, 400, 'invalid_recovery_token', 'recovery_token: '],
  ])('%s %j: %i %s', async (path, body, status, code, message) => {
    const before = await traces();
    const reply = await bench.app.post(path, body);
    expectRefusal(reply, status, code, message);
    expect((reply.body.error as { retryable: boolean }).retryable).toBe(false);
    expect(await traces()).toEqual(before);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded'])('a body of type %s answers 415', async (type) => {
    const reply = await bench.app.post(SIGNUP, '{"email":"a@example.com"}', { 'content-type': type });
    expectRefusal(reply, 415, 'unsupported_media_type', 'Send the body as JSON');
  });
});

test('when sign-up is off, both routes say so before any other check', async () => {
  const off = await startSignupApp(bench.db.pool, { smtpUrl: bench.smtp.url, enabled: false });
  for (const path of [SIGNUP, VERIFY]) {
    for (const body of [{ email: newEmail() }, 'x'.repeat(5_000), '{']) {
      const reply = await off.post(path, body);
      expectRefusal(reply, 503, 'agent_signup_disabled', 'Sign-up is disabled.');
      expect(reply.body).toMatchObject({ error: { retryable: false } });
    }
  }
  await off.stop();
});

describe('the domain', () => {
  const fault = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
  const resolver: MailResolver = {
    resolveMx: (domain) => (domain === 'null-mx.example' ? Promise.resolve([{ exchange: '' }]) : fault('ESERVFAIL')),
    resolve4: () => fault('ENODATA'),
    resolve6: () => fault('ENODATA'),
  };

  test('is refused when it accepts no mail, but not when its name servers fail', async () => {
    const checked = await startSignupApp(bench.db.pool, {
      smtpUrl: bench.smtp.url,
      acceptsMail: createMailDomainCheck(resolver),
    });
    const mails = bench.smtp.received.length;
    const reply = await checked.signUp(newEmail('null-mx.example'));
    expectRefusal(reply, 400, 'undeliverable_email', 'email: the domain null-mx.example cannot receive mail.');
    expect(bench.smtp.received.length).toBe(mails);
    expect((await checked.signUp(newEmail('broken.example'))).status).toBe(200);
    await checked.stop();
  });
});

describe('a client that disconnects', () => {
  const begin = (path: string, headers: Record<string, string | number>) => {
    const sent = request(bench.app.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    sent.on('error', () => undefined);
    return sent;
  };

  test('after its request still gets its mail', async () => {
    const email = newEmail();
    const sent = begin(SIGNUP, { 'x-forwarded-for': '198.51.100.77' });
    sent.end(JSON.stringify({ email }));
    await eventually('the sign-up is stored', async () => (await rowsOf(email)) === 1);
    sent.destroy();
    await eventually('the mail came', () => bench.smtp.received.some(({ recipients }) => recipients.includes(email)));
    expect(await rowsOf(email)).toBe(1);
  });

  async function rowsOf(email: string): Promise<number> {
    return (await bench.db.pool.query('SELECT FROM signups WHERE email = $1', [email])).rowCount ?? -1;
  }
});
