import { readdirSync, readFileSync, statSync, mkdirSync, writeFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { newEmail, startSignupApp } from '../../support/fixtures/signup-app.ts';
import type { SignupApp, SignupAppOptions } from '../../support/fixtures/signup-app.ts';
import { codeIn, readMail } from '../../support/fakes/smtp-mail.ts';
import { smtpRefusal, startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { politely, startScriptedSmtp } from '../../support/fakes/smtp-script.ts';
import type { SmtpScript } from '../../support/fakes/smtp-script.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const TIMEOUTS = { connect: 4_000, greeting: 10_000, silence: 10_000, total: 30_000 };
/** For servers that hang. */
const HANGING = { ...TIMEOUTS, greeting: 500, silence: 500 };

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function signupOver(options: SignupAppOptions): Promise<SignupApp> {
  const app = await startSignupApp(db.pool, { timeouts: TIMEOUTS, ...options });
  closers.push(() => app.stop());
  return app;
}

async function scripted(script: SmtpScript, greeting?: string): ReturnType<typeof startScriptedSmtp> {
  const server = await startScriptedSmtp(script, greeting);
  closers.push(() => server.stop());
  return server;
}

async function receiver(options: Parameters<typeof startSmtpReceiver>[0]): ReturnType<typeof startSmtpReceiver> {
  const server = await startSmtpReceiver(options);
  closers.push(() => server.stop());
  return server;
}

async function signupsOf(email: string): Promise<number> {
  return (await db.pool.query('SELECT FROM signups WHERE email = $1', [email])).rowCount ?? -1;
}

/** 502, nothing stored, and a log line that gives the reason in our words. */
async function expectFailure(app: SignupApp, failure: string, smtpStatus?: number): Promise<void> {
  const email = newEmail();
  const reply = await app.signUp(email);
  expect(reply).toMatchObject({
    status: 502,
    body: {
      error: {
        code: 'email_failed',
        message: 'The code could not be mailed. Try again later.',
        retryable: true,
        retry_after: 60,
      },
    },
  });
  expect(await signupsOf(email)).toBe(0);
  const line = app
    .log()
    .split('\n')
    .findLast((text) => text.includes('could not be mailed'));
  const logged = JSON.parse(line ?? '{}') as Record<string, unknown>;
  expect([logged.failure, logged.smtpStatus]).toEqual([failure, smtpStatus]);
}

describe('a mail server that refuses', () => {
  test('the recipient', async () => {
    const words = (address: string) => `5.1.1 <${address}>: no such user`;
    const { url } = await receiver({
      onRcptTo: ({ address }, _session, done) => done(smtpRefusal(550, words(address))),
    });
    await expectFailure(await signupOver({ smtpUrl: url }), 'refused', 550);
  });

  test('the sender, and the mail', async () => {
    for (const verb of ['MAIL', '.']) {
      const { url } = await scripted((line) => (line.startsWith(verb) ? '554 no' : politely(line)));
      await expectFailure(await signupOver({ smtpUrl: url }), 'refused', 554);
    }
  });

  test('temporarily: a later request succeeds with another code', async () => {
    const tried = new Set<string>();
    const smtp = await receiver({
      onRcptTo({ address }, _session, done) {
        if (tried.has(address)) done();
        else done(smtpRefusal(451, '4.7.1 greylisted'));
        tried.add(address);
      },
    });
    const app = await signupOver({ smtpUrl: smtp.url });
    const email = newEmail();
    expect(await app.signUp(email)).toMatchObject({ status: 502, code: 'email_failed' });
    const again = await app.signUp(email);
    expect(again.status).toBe(200);
    const verified = await app.verify(again.body.signup_token, codeIn(smtp.mailTo(email)));
    expect(verified.status).toBe(201);
  });

  test('the password', async () => {
    const smtp = await receiver({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'right' ? done(null, { user: username }) : done(new Error('no')),
    });
    const withPassword = (password: string) => smtp.url.replace('//', `//me:${password}@`);
    await expectFailure(await signupOver({ smtpUrl: withPassword('wrong') }), 'login', 535);
    const app = await signupOver({ smtpUrl: withPassword('right') });
    expect((await app.signUp(newEmail())).status).toBe(200);
  });

  test('to show a trusted certificate', async () => {
    const { url } = await receiver({ disabledCommands: ['AUTH'] });
    await expectFailure(await signupOver({ smtpUrl: url }), 'tls');
    const app = await signupOver({ smtpUrl: `${url}?tls.rejectUnauthorized=false` });
    expect((await app.signUp(newEmail())).status).toBe(200);
  });
});

describe('a mail server that hangs, disconnects or sends garbage', () => {
  test.each<[string, SmtpScript, string]>([
    ['never greets', politely, ''],
    ['is silent after EHLO', (line) => (line.startsWith('EHLO') ? undefined : politely(line)), '220 there'],
    ['is silent after the mail', (line) => (line === '.' ? undefined : politely(line)), '220 there'],
  ])('%s', async (_, script, greeting) => {
    const server = await scripted(script, greeting);
    // Each limit alone, except for the greeting's: silence counts from the connection on.
    const timeouts = greeting === '' ? { ...HANGING, silence: 30_000 } : HANGING;
    const app = await signupOver({ smtpUrl: server.url, timeouts });
    await expectFailure(app, 'timeout');
    await eventually('the connection is closed', () => server.connections() === 0);
  });

  test.each<[string, SmtpScript, string]>([
    ['hangs up after the mail', (line, socket) => (line === '.' ? void socket.end() : politely(line)), '220 there'],
    ['is not a mail server', () => 'HTTP/1.1 400 Bad Request', 'HTTP/1.1 400 Bad Request'],
  ])('%s', async (_, script, greeting) => {
    const { url } = await scripted(script, greeting);
    const app = await signupOver({ smtpUrl: url });
    const email = newEmail();
    expect(await app.signUp(email)).toMatchObject({ status: 502, code: 'email_failed' });
    expect(await signupsOf(email)).toBe(0);
  });
});

test('a mail server that is unavailable is a failed mail', async () => {
  await expectFailure(await signupOver({ smtpUrl: `smtp://127.0.0.1:${await freePort()}` }), 'connection');
});

test('a password is never sent unencrypted to another machine', async () => {
  const server = await scripted(politely);
  // A spelling of this machine's address that is not recognised as local.
  const smtpUrl = server.url.replace('//127.0.0.1', '//me:secret@127.1');
  // An encryption that is begun and never spoken fails with the time to connect.
  const app = await signupOver({ smtpUrl, timeouts: { ...TIMEOUTS, connect: 1_500 } });
  expect(await app.signUp(newEmail())).toMatchObject({ code: 'email_failed' });
  // What follows is encrypted, and may hold the end of a line.
  const commands = server.lines.map((line) => line.split(' ')[0]!).filter((verb) => /^[A-Z]+$/i.test(verb));
  expect(commands).toEqual(['EHLO', 'STARTTLS']);
  const allowed = await signupOver({ smtpUrl: `${smtpUrl}?requireTLS=false` });
  expect((await allowed.signUp(newEmail())).status).toBe(200);
});

describe('without a mail server', () => {
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

  test('mails are files that only their owner can read', async () => {
    const app = await signupOver({ smtpUrl: undefined });
    const email = newEmail();
    const reply = await app.signUp(email);
    expect(reply.status).toBe(200);
    const files = readdirSync(app.outbox);
    expect(files).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-[0-9a-f]{12}\.eml$/)]);
    const file = join(app.outbox, files[0]!);
    expect([mode(app.outbox), mode(file)]).toEqual(['700', '600']);
    const mail = readMail(readFileSync(file, 'latin1'));
    expect(mail.headers.get('to')).toEqual([email]);
    expect((await app.verify(reply.body.signup_token, codeIn(mail))).status).toBe(201);
  });

  test('a folder that cannot be written is a failed mail', async () => {
    const app = await signupOver({ smtpUrl: undefined });
    mkdirSync(dirname(app.outbox), { recursive: true });
    writeFileSync(app.outbox, 'a file');
    await expectFailure(app, 'outbox');
    rmSync(app.outbox);
    expect((await app.signUp(newEmail())).status).toBe(200);
  });
});
