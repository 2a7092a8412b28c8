import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import { closeAccount } from '../../../shared/stores/accounts/close-account.ts';
import { newEmail, SECRET_KEY, startSignupApp } from '../../support/fixtures/signup-app.ts';
import type { SignupApp, SignupReply } from '../../support/fixtures/signup-app.ts';
import { signupFaults } from '../../support/oracles/signup-audit.ts';
import { codeIn } from '../../support/fakes/smtp-mail.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { politely, startScriptedSmtp } from '../../support/fakes/smtp-script.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let smtp: SmtpReceiver;
/** Two processes' worth: they share only the database. */
let apps: [SignupApp, SignupApp];
beforeAll(async () => {
  db = await createTestDatabase();
  smtp = await startSmtpReceiver();
  const start = () => startSignupApp(db.pool, { smtpUrl: smtp.url });
  apps = [await start(), await start()];
});
afterAll(async () => {
  for (const app of apps) await app.stop();
  await smtp.stop();
  await db.drop();
});

async function ask(email: string): Promise<{ token: string; code: string }> {
  const reply = await apps[0].signUp(email);
  if (reply.status !== 200) throw new Error(reply.message);
  return { token: reply.body.signup_token as string, code: codeIn(smtp.mailTo(email)) };
}

function wrong(code: string, by = 1): string {
  return String((Number(code) + by) % 1_000_000).padStart(6, '0');
}

/** How many answers there were of each kind. */
function tally(replies: readonly SignupReply[]): Record<string, number> {
  const kinds = replies.map(({ status, code }) => code ?? String(status));
  return Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, of]) => [kind, of.length]));
}

async function atOnce(
  count: number,
  verify: (app: SignupApp, at: number) => Promise<SignupReply>,
): Promise<SignupReply[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => verify(apps[at % 2]!, at)));
}

test('fifty concurrent right codes open one account with one key', async () => {
  const { token, code } = await ask(newEmail());
  expect(tally(await atOnce(50, (app) => app.verify(token, code)))).toEqual({ 201: 1, account_exists: 49 });
  expect(await signupFaults(db.pool)).toEqual([]);
});

test('of twenty concurrent wrong codes three are judged', async () => {
  const { token, code } = await ask(newEmail());
  const replies = await atOnce(20, (app, at) => app.verify(token, wrong(code, at + 1)));
  expect(tally(replies)).toEqual({ invalid_code: 3, too_many_attempts: 17 });
  const messages = replies.filter((reply) => reply.code === 'invalid_code').map(({ message }) => message);
  expect(messages.map((message) => /(no tries|1 try|2 tries) left/.exec(message)?.[0]).sort()).toEqual([
    '1 try left',
    '2 tries left',
    'no tries left',
  ]);
  expect(await apps[0].verify(token, code)).toMatchObject({ code: 'too_many_attempts' });
});

test('concurrent wrong and right codes: at most three wrong ones are judged, and the account exists exactly if the right one came in time', async () => {
  for (let round = 0; round < 10; round++) {
    const email = newEmail();
    const { token, code } = await ask(email);
    const counted = tally(await atOnce(12, (app, at) => app.verify(token, at % 4 === 3 ? code : wrong(code, at + 1))));
    expect(counted.invalid_code ?? 0).toBeLessThanOrEqual(3);
    const { rowCount } = await db.pool.query('SELECT FROM accounts WHERE mailbox = $1', [email]);
    expect(counted['201'] ?? 0).toBe(rowCount);
  }
  expect(await signupFaults(db.pool)).toEqual([]);
});

test('five concurrent tokens of one mailbox, in five spellings: one account, credited once', async () => {
  for (let round = 0; round < 5; round++) {
    const name = newEmail('').slice(0, -1);
    const spellings = [name, `${name}+a`, `${name[0]!}.${name.slice(1)}`, name.toUpperCase(), `${name}+b.c`];
    const asked = await Promise.all(spellings.map((spelling) => ask(`${spelling}@gmail.com`)));
    const replies = await atOnce(20, (app, at) => app.verify(asked[at % 5]!.token, asked[at % 5]!.code));
    expect(tally(replies)).toEqual({ 201: 1, account_exists: 19 });
    const { rows } = await db.pool.query('SELECT balance FROM accounts WHERE mailbox = $1', [`${name}@gmail.com`]);
    expect(rows).toEqual([{ balance: 200 }]);
  }
  expect(await signupFaults(db.pool)).toEqual([]);
});

test('ten concurrent mailboxes of one small domain: three get credits', async () => {
  const asked = await Promise.all(Array.from({ length: 10 }, () => ask(newEmail('crowd.example'))));
  const replies = await atOnce(10, (app, at) => app.verify(asked[at]!.token, asked[at]!.code));
  expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(201));
  expect(replies.map(({ body }) => body.credits).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 200, 200, 200]);
  expect(await signupFaults(db.pool)).toEqual([]);
});

test('closing an account while its mailbox signs up again: nothing breaks, and everything that exists is whole', async () => {
  const hash = createMailboxHash(SECRET_KEY);
  for (let round = 0; round < 12; round++) {
    const email = newEmail('outlook.com');
    const first = await ask(email);
    await apps[0].verify(first.token, first.code);
    const { rows } = await db.pool.query<{ id: string }>('SELECT id FROM accounts WHERE mailbox = $1', [email]);
    const asked = [await ask(email), await ask(email), await ask(email)];
    const closing = closeAccount(db.pool, rows[0]!.id, { mailboxHash: hash(email) });
    const replies = await atOnce(9, (app, at) => app.verify(asked[at % 3]!.token, asked[at % 3]!.code));
    expect(await closing).toBe(true);
    const expected = ['201', 'account_exists', 'invalid_signup_token'];
    expect(Object.keys(tally(replies)).filter((kind) => !expected.includes(kind))).toEqual([]);
    for (const { status, body } of replies) if (status === 201) expect(body.credits).toBe(0);
    const open = await db.pool.query('SELECT FROM accounts WHERE mailbox = $1', [email]);
    expect(open.rowCount).toBe(tally(replies)['201'] ?? 0);
  }
  expect(await signupFaults(db.pool)).toEqual([]);
});

describe('whether a mailbox has an account', () => {
  test('is never read: a code can be requested while the table of accounts is missing', async () => {
    await db.pool.query('ALTER TABLE accounts RENAME TO accounts_away');
    const reply = await apps[0].signUp(newEmail());
    await db.pool.query('ALTER TABLE accounts_away RENAME TO accounts');
    expect(reply.status).toBe(200);
  });

  test('is not revealed by the answer; its time is measured as well', async () => {
    const server = await startScriptedSmtp(politely);
    const app = await startSignupApp(db.pool, { smtpUrl: server.url });
    const known = Array.from({ length: 200 }, () => newEmail());
    await db.pool.query(
      `INSERT INTO accounts (id, email, mailbox)
       SELECT 'acc_known_' || number, mail, mail FROM unnest($1::text[]) WITH ORDINALITY AS m (mail, number)`,
      [known],
    );
    const times = await timesOf(app, known);
    console.log(
      `200 sign-ups each: median of known mailboxes ${times.known.toFixed(1)} ms, of unknown ones ${times.unknown.toFixed(1)} ms`,
    );
    await app.stop();
    await server.stop();
  });
});

/**
 * Median milliseconds of known mailboxes and of as many unknown ones, in turns, so that other load affects both alike.
 * Their answers must be equal except for the token.
 */
async function timesOf(app: SignupApp, known: readonly string[]): Promise<{ known: number; unknown: number }> {
  const times = { known: [] as number[], unknown: [] as number[] };
  const answers = new Set<string>();
  for (const [at, email] of known.entries()) {
    for (const kind of at % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const begun = performance.now();
      const { status, body } = await app.signUp(kind === 'known' ? email : newEmail());
      times[kind].push(performance.now() - begun);
      answers.add(JSON.stringify([status, { ...body, signup_token: String(body.signup_token).length }]));
    }
  }
  expect(answers.size).toBe(1);
  return { known: median(times.known), unknown: median(times.unknown) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
