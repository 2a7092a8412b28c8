import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import { closeAccount } from '../../../shared/stores/accounts/close-account.ts';
import { credit } from '../../../shared/stores/ledger/ledger.ts';
import { newEmail, SECRET_KEY, startSignupApp } from '../../support/fixtures/signup-app.ts';
import type { SignupApp, SignupReply } from '../../support/fixtures/signup-app.ts';
import { codeIn } from '../../support/fakes/smtp-mail.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import type { SmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let smtp: SmtpReceiver;
let app: SignupApp;

beforeAll(async () => {
  db = await createTestDatabase();
  smtp = await startSmtpReceiver();
  app = await startSignupApp(db.pool, { smtpUrl: smtp.url });
});
afterAll(async () => {
  await app.stop();
  await smtp.stop();
  await db.drop();
});

async function accountOf(mailbox: string): Promise<{ id: string; balance: number; owed: number }> {
  const { rows } = await db.pool.query<{ id: string; balance: number; owed: number }>(
    'SELECT id, balance, owed FROM accounts WHERE mailbox = $1',
    [mailbox],
  );
  return rows[0]!;
}

async function signUp(email: string): Promise<SignupReply> {
  const { body } = await app.signUp(email);
  return app.verify(body.signup_token, codeIn(smtp.mailTo(email)));
}

const newName = () => newEmail('').slice(0, -1);

test.each([
  ['Yandex', (name: string) => [`${name}.a@ya.ru`, `${name}-a@yandex.com`, `${name}.a@yandex.kz`]],
  ['Apple', (name: string) => [`${name}@me.com`, `${name}@icloud.com`, `${name}@mac.com`]],
  ['Yahoo', (name: string) => [`${name}-one@yahoo.com`, `${name}-two@yahoo.com`]],
])('spellings of one mailbox at %s are accounts of their own, and credited once', async (_provider, spellings) => {
  const replies: SignupReply[] = [];
  for (const email of spellings(newName())) replies.push(await signUp(email));
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201));
  expect(replies.map(({ body }) => body.credits)).toEqual([200, ...replies.slice(1).map(() => 0)]);
});

test('spellings that are confirmed at the same moment are credited once', async () => {
  const name = newName();
  const emails = ['icloud.com', 'me.com', 'mac.com'].map((domain) => `${name}@${domain}`);
  const sent = await Promise.all(emails.map((email) => app.signUp(email)));
  const replies = await Promise.all(
    sent.map(({ body }, at) => app.verify(body.signup_token, codeIn(smtp.mailTo(emails[at]!)))),
  );
  expect(replies.map(({ body }) => body.credits).sort()).toEqual([0, 0, 200]);
});

test('an account that was credited as the spelling it has keeps its key, and no other spelling is credited', async () => {
  const name = newName();
  const email = `${name}.b@ya.ru`;
  expect((await signUp(email)).body.credits).toBe(200);
  // As before there was a form for all spellings.
  const hashOf = createMailboxHash(SECRET_KEY);
  await db.pool.query('DELETE FROM credited_mailboxes WHERE mailbox_hash = $1', [hashOf(`${name}-b@yandex.ru`)]);
  const { rowCount } = await db.pool.query('SELECT FROM credited_mailboxes WHERE mailbox_hash = $1', [hashOf(email)]);
  expect(rowCount).toBe(1);

  expect((await signUp(`${name}-b@yandex.ru`)).body.credits).toBe(0);
  expect((await signUp(email)).code).toBe('account_exists');
  const { body } = await app.recover(email);
  expect((await app.recoverKey(body.recovery_token, codeIn(smtp.mailTo(email)))).status).toBe(201);
});

test('what a deleted account owed is owed by the next account of its mailbox, once', async () => {
  const email = newEmail('example.net');
  const hashOf = createMailboxHash(SECRET_KEY);
  const close = async () => closeAccount(db.pool, (await accountOf(email)).id, { mailboxHash: hashOf(email) });
  expect((await signUp(email)).body.credits).toBe(200);
  await db.pool.query('UPDATE accounts SET owed = 700 WHERE mailbox = $1', [email]);
  await close();

  expect((await signUp(email)).body.credits).toBe(0);
  const again = await accountOf(email);
  expect(again).toMatchObject({ balance: 0, owed: 700 });
  expect(await credit(db.pool, { accountId: again.id, kind: 'pack', credits: 1_000, reference: 'bought' })).toBe(300);
  await close();

  await signUp(email);
  expect(await accountOf(email)).toMatchObject({ balance: 0, owed: 0 });
});
