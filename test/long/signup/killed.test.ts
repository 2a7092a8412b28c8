import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMailboxHash } from '../../../shared/accounts/rules/mailbox.ts';
import { hashMailedToken, newSignupToken } from '../../../shared/accounts/rules/credentials.ts';
import { createCodeHashes, newCode } from '../../../services/api/signup/check-code.ts';
import { insertSignup } from '../../../shared/accounts/signups.ts';
import { newEmail, SECRET_KEY, startSignupApp } from '../../support/fixtures/signup-app.ts';
import type { SignupApp } from '../../support/fixtures/signup-app.ts';
import { signupFaults } from '../../support/oracles/signup-audit.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

const CHILD = join(import.meta.dirname, '../../support/children/signup-killed-at-commit.ts');
const MAILBOXES = 150;
const TOKENS_EACH = 2;

let db: TestDatabase;
let app: SignupApp;
beforeAll(async () => {
  db = await createTestDatabase();
  app = await startSignupApp(db.pool, { smtpUrl: undefined });
});
afterAll(async () => {
  await app.stop();
  await db.drop();
});

/** Sign-ups in the state after their mails: two tokens for each mailbox. */
async function signUpMany(mailboxes: readonly string[]): Promise<[string, string][]> {
  const hashes = createCodeHashes(SECRET_KEY);
  const made: [string, string][] = [];
  for (const email of mailboxes.flatMap((one) => Array<string>(TOKENS_EACH).fill(one))) {
    const [token, code] = [newSignupToken(), newCode()];
    const tokenHash = hashMailedToken(token);
    await insertSignup(db.pool, {
      tokenHash,
      email,
      mailbox: email,
      purpose: 'signup',
      secret: { codeHash: hashes.hash(tokenHash, code) },
      interaction: undefined,
      validSeconds: 600,
    });
    made.push([token, code]);
  }
  return made;
}

/** Runs the child over the codes and kills it after a while; returns what was done by then. */
async function killAfter(answered: number, codes: readonly [string, string][]): Promise<void> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify({ postgresUrl: db.url, codes })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = 0;
  child.stdout.on('data', (data: Buffer) => {
    said += data.toString().split('\n').length - 1;
    if (said >= answered) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  // The server may still execute the dead process's statements; its transactions end when it notices.
  await eventually('its connections are gone', async () => {
    const { rows } = await db.pool.query("SELECT FROM pg_stat_activity WHERE application_name = 'killed-signup'");
    return rows.length === 0;
  });
}

test('a process killed while it verifies leaves whole accounts or none, and the remaining codes still work', async () => {
  const hash = createMailboxHash(SECRET_KEY);
  for (const answered of [1, 60]) {
    const mailboxes = Array.from({ length: MAILBOXES }, () => newEmail('gmail.com'));
    const codes = await signUpMany(mailboxes);
    await killAfter(answered, codes);
    expect(await signupFaults(db.pool)).toEqual([]);
    const made = await db.pool.query('SELECT FROM accounts WHERE mailbox = ANY ($1)', [mailboxes]);
    expect(made.rowCount).toBeGreaterThan(0);
    expect(made.rowCount).toBeLessThan(MAILBOXES);

    const replies = await Promise.all(codes.map(([token, code]) => app.verify(token, code)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(MAILBOXES - made.rowCount!);
    expect(new Set(replies.map(({ code }) => code))).toEqual(new Set([undefined, 'account_exists']));
    expect(await signupFaults(db.pool)).toEqual([]);
    const whole = await db.pool.query('SELECT FROM accounts WHERE mailbox = ANY ($1) AND balance = 200', [mailboxes]);
    const credited = await db.pool.query('SELECT FROM credited_mailboxes WHERE mailbox_hash = ANY ($1)', [
      mailboxes.map(hash),
    ]);
    expect([whole.rowCount, credited.rowCount]).toEqual([MAILBOXES, MAILBOXES]);
  }
}, 120_000);
