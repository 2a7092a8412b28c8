import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { grantFreeCredits } from '../../../services/api/signup/verify-code.ts';
import { createMailboxHash } from '../../../shared/accounts/rules/mailbox.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { SealedRecords } from '../../../shared/accounts/sealed-records.ts';
import { runAdminHere } from '../../support/children/admin-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const [OLD, NEW, THIRD] = ['the old key, ', 'the new key, ', 'a third key, '].map((name) => name.padEnd(32, 'x'));
const [oldBox, newBox] = [createSecretBox(OLD!), createSecretBox(NEW!)];
const MONITORS = 4_000;

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  await db.pool.query(`INSERT INTO accounts (id, email, mailbox) VALUES ('acc_a', 'a@example.com', 'a@example.com')`);
});
afterEach(() => db.drop());

const idOf = (number: number) => `mon_${String(number).padStart(12, '0')}`;

/** Each monitor's secret is its id; every fourth has one before it, too. */
async function insertMonitors(count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, number) => idOf(number));
  await db.pool.query(
    `INSERT INTO monitors (id, account_id, name, keywords, webhook_secret, previous_webhook_secret, active_since,
       next_charge_at)
     SELECT id, 'acc_a', id, '{rust}', secret, previous, now(), now()
       FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS monitor (id, secret, previous)`,
    [
      ids,
      ids.map((id) => oldBox.seal(id, id)),
      ids.map((id, number) => (number % 4 === 0 ? oldBox.seal(`before ${id}`, id) : null)),
    ],
  );
}

const env = () => ({ DATABASE_URL: db.url, SECRET_KEY: NEW!, SECRET_KEY_PREVIOUS: OLD! });
const reseal = (more: Record<string, string> = {}) => runAdminHere(['secrets', 'reseal'], { ...env(), ...more });
const lines = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { column: string; resealed: number; unreadable: number });

interface Stored {
  id: string;
  secret: Buffer;
  previous: Buffer | null;
}
async function stored(): Promise<Stored[]> {
  const text = 'SELECT id, webhook_secret AS secret, previous_webhook_secret AS previous FROM monitors ORDER BY id';
  return (await db.pool.query<Stored>(text)).rows;
}

function opens(sealed: Buffer, id: string): boolean {
  try {
    return newBox.open(sealed, id) !== '';
  } catch {
    return false;
  }
}

test('killed in the middle and run twice at once, beside owners who rotate, it loses and reverts nothing', async () => {
  await insertMonitors(MONITORS);
  // So that it cannot end before it is killed.
  const holder = await db.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM monitors WHERE id = $1 FOR UPDATE', [idOf(MONITORS / 2)]);
  const run = spawn(process.execPath, ['services/admin/main.ts', 'secrets', 'reseal'], {
    env: { PATH: process.env.PATH, ...env() },
    stdio: 'ignore',
  });
  await eventually('some are resealed', async () => opens((await stored())[100]!.secret, idOf(100)));
  run.kill('SIGKILL');
  await once(run, 'exit');
  await holder.query('COMMIT');
  holder.release();
  const half = await stored();
  const left = half.filter(({ id, secret }) => !opens(secret, id));
  expect([left.length > 0, left.length < MONITORS]).toEqual([true, true]);
  // Meanwhile every service opens both.
  const both = createSecretBox(NEW!, [OLD!]);
  expect(half.every(({ id, secret }) => both.open(secret, id) === id)).toBe(true);

  // Owners rotate: new processes seal with the new key, and one is older and still seals with the old one.
  const rotated = left.filter((_, index) => index % 50 === 0).map(({ id }) => id);
  const rotating = (async () => {
    for (const [index, id] of rotated.entries()) {
      const box = index % 2 === 0 ? newBox : oldBox;
      await db.pool.query('UPDATE monitors SET webhook_secret = $2 WHERE id = $1', [id, box.seal(`new ${id}`, id)]);
    }
  })();
  const runs = await Promise.all([reseal(), reseal(), rotating]);
  expect([runs[0].code, runs[1].code]).toEqual([0, 0]);
  expect((await reseal()).code).toBe(0);
  const after = await stored();
  expect(
    after.filter(({ id, secret }) => newBox.open(secret, id) !== (rotated.includes(id) ? `new ${id}` : id)),
  ).toEqual([]);
  const before = after.filter(({ previous }) => previous !== null);
  expect(before).toHaveLength(MONITORS / 4);
  expect(before.every(({ id, previous }) => newBox.open(previous!, id) === `before ${id}`)).toBe(true);
  expect(lines((await reseal()).out).slice(0, 2)).toEqual([
    { column: 'monitors.webhook_secret', resealed: 0, unreadable: 0 },
    { column: 'monitors.previous_webhook_secret', resealed: 0, unreadable: 0 },
  ]);
}, 120_000);

test('the emptied row of a deleted monitor holds nothing to reseal', async () => {
  await insertMonitors(2);
  await db.pool.query(`UPDATE monitors SET status = 'deleted', webhook_secret = '' WHERE id = $1`, [idOf(1)]);
  const { code, out } = await reseal();
  expect([code, lines(out)[0]]).toEqual([0, { column: 'monitors.webhook_secret', resealed: 1, unreadable: 0 }]);
});

test('what programs hold stays valid, and a mailbox gets no free credits a second time', async () => {
  const { pool } = db;
  const payload = { accountId: 'acc_a', scope: 'forum:read' };
  await new SealedRecords(pool, oldBox).put({ model: 'AccessToken', id: 'token', payload, validSeconds: 600 });
  const context = 'idempotency acc_a POST /v1/monitors key';
  await pool.query(
    `INSERT INTO idempotency_keys (account_id, route, key, body_hash, answer)
     VALUES ('acc_a', 'POST /v1/monitors', 'key', '', $1)`,
    [oldBox.seal('answer', context)],
  );
  const account = { accountId: 'acc_a', mailbox: 'a@example.com' };
  expect(await grantFreeCredits(pool, account, createMailboxHash(OLD!))).toEqual({ credits: 200 });
  // Before: the hash under the former key is known as long as that key is.
  expect(await grantFreeCredits(pool, account, createMailboxHash(NEW!, [OLD!]))).toMatchObject({ credits: 0 });
  expect(lines((await reseal()).out)).toEqual([
    { column: 'monitors.webhook_secret', resealed: 0, unreadable: 0 },
    { column: 'monitors.previous_webhook_secret', resealed: 0, unreadable: 0 },
    { column: 'oauth_records.payload', resealed: 1, unreadable: 0 },
    { column: 'idempotency_keys.answer', resealed: 1, unreadable: 0 },
    { column: 'credited_mailboxes.mailbox_hash', added: 1 },
  ]);
  expect((await new SealedRecords(pool, newBox).find('AccessToken', 'token'))!.payload).toEqual(payload);
  const { rows } = await pool.query<{ answer: Buffer }>('SELECT answer FROM idempotency_keys');
  expect(newBox.open(rows[0]!.answer, context)).toBe('answer');
  expect(await grantFreeCredits(pool, account, createMailboxHash(NEW!))).toMatchObject({ credits: 0 });
});

test('the generated key is resealed from when SECRET_KEY is set for the first time; a third key is named', async () => {
  await insertMonitors(2);
  await db.pool.query(`INSERT INTO settings (name, value) VALUES ('secret_key', $1)`, [OLD]);
  await db.pool.query('UPDATE monitors SET webhook_secret = $2 WHERE id = $1', [
    idOf(1),
    createSecretBox(THIRD!).seal(idOf(1), idOf(1)),
  ]);
  const first = await runAdminHere(['secrets', 'reseal'], { DATABASE_URL: db.url, SECRET_KEY: NEW! });
  expect(lines(first.out)[0]).toEqual({ column: 'monitors.webhook_secret', resealed: 1, unreadable: 1 });
  expect([first.code, first.err]).toEqual([1, expect.stringMatching(/^1 values were sealed with a third key/)]);
  expect((await reseal({ SECRET_KEY_PREVIOUS: THIRD! })).code).toBe(0);
  expect((await stored()).every(({ id, secret }) => newBox.open(secret, id) === id)).toBe(true);
});
