import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureSecretKey } from '../../../shared/maintenance/settings.ts';
import { runAdmin } from '../../../services/admin/run-admin.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

type Line = Record<string, unknown>;

/** Runs a command against this test's database and returns what a terminal would show. */
async function admin(command: string, env: Record<string, string> = {}) {
  const out: Line[] = [];
  const err: string[] = [];
  const code = await runAdmin(
    command.split(' ').map((word) => word.replaceAll('~', ' ')),
    { DATABASE_URL: db.url, ...env },
    { out: (line) => out.push(JSON.parse(line) as Line), err: (line) => err.push(line) },
  );
  return { code, out, err: err.join('\n') };
}

/** @throws Error when the command fails */
async function done(command: string): Promise<Line[]> {
  const { code, out, err } = await admin(command);
  if (code !== 0) throw new Error(err);
  return out;
}

async function newAccount(email: string, options = ''): Promise<{ id: string; key: string }> {
  const [line] = await done(`account create --email ${email}${options}`);
  return { id: line!.account_id as string, key: line!.api_key as string };
}

const statusOf = async (key: string) => (await api.call(key, 'GET', '/v1/account')).status;

describe('credits', () => {
  test('grants credits to an account found by mailbox or id; a repeated reference grants nothing', async () => {
    const { id } = await newAccount('grant@example.com');
    expect(await done('account grant --email Grant+x@example.com --credits 50 --reference ticket~1')).toEqual([
      { account_id: id, granted: 50, credits: 250 },
    ]);
    const again = await admin(`account grant --account ${id} --credits 50 --reference ticket~1`);
    expect(again).toEqual({ code: 1, out: [], err: '--reference: ticket 1 was already used; no credits were given.' });
    expect(await done(`account show --account ${id}`)).toMatchObject([{ credits: 250, plan: 'free' }]);
  });

  test('sells a pack and refunds it', async () => {
    const { id } = await newAccount('pack@example.com', ' --credits 100');
    expect(await done(`account pack --account ${id} --pack 9 --reference invoice-7`)).toEqual([
      { account_id: id, pack: 9, granted: 5_000, credits: 5_100, reference: 'invoice-7' },
    ]);
    expect(await done(`account show --account ${id}`)).toMatchObject([{ plan: 'pack_9' }]);
    expect(await done('account refund --reference invoice-7')).toEqual([
      { account_id: id, taken: 5_000, owed: 0, credits: 100 },
    ]);
    expect(await done(`account show --account ${id}`)).toMatchObject([{ plan: 'free', credits: 100 }]);
    expect((await admin('account refund --reference invoice-7')).err).toContain('no pack with the reference invoice-7');
    expect((await admin(`account pack --account ${id} --pack 9 --reference invoice-7`)).err).toContain('already used');
  });

  test('the check of all ledgers: quiet when they are right, exit code 1 with the account when one is not', async () => {
    expect(await done('ledger check')).toEqual([{ status: 'every balance is what its ledger says' }]);
    const { id } = await newAccount('wrong@example.com', ' --credits 7');
    await db.pool.query('UPDATE accounts SET balance = 8 WHERE id = $1', [id]);
    const { code, out, err } = await admin('ledger check');
    await db.pool.query('UPDATE accounts SET balance = 7 WHERE id = $1', [id]);
    expect([code, out, err]).toEqual([
      1,
      [{ account_id: id, balance: 8, sum: 7, broken_entries: 0, first_broken_id: null }],
      '1 balances differ from their ledger.',
    ]);
  });
});

describe('state', () => {
  test('frozen: keys refused, monitors paused; unfrozen: keys accepted, monitors still paused', async () => {
    const { id, key } = await newAccount('frozen@example.com');
    const monitor = await api.monitor(key);
    expect(await done(`account freeze --account ${id}`)).toMatchObject([{ status: 'frozen' }]);
    const refused = await api.call(key, 'GET', '/v1/forum/post');
    expect([refused.status, refused.body.error]).toEqual([
      403,
      {
        code: 'account_frozen',
        message: 'This account is frozen. Contact the operator of the service.',
        doc_url: 'http://localhost/docs/reference/errors#account_frozen',
        retryable: false,
      },
    ]);
    const wrongSecret = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    expect(await statusOf(wrongSecret)).toBe(401);
    expect((await admin(`key create --account ${id}`)).err).toContain('is frozen');
    expect(await done(`account freeze --account ${id}`)).toMatchObject([{ status: 'frozen' }]);
    expect(await done(`account unfreeze --account ${id}`)).toMatchObject([{ status: 'active' }]);
    expect((await api.call(key, 'GET', `/v1/monitors/${monitor.id}`)).body.monitor).toMatchObject({ status: 'paused' });
  });

  test('deleted: only with --yes and the secret key; the ledger stays, without the address', async () => {
    const { id, key } = await newAccount('gone@example.com');
    expect((await admin(`account delete --account ${id}`)).err).toContain('--yes is required');
    expect((await admin(`account delete --account ${id} --yes`)).err).toContain('SECRET_KEY');
    await ensureSecretKey(db.pool);
    expect(await done(`account delete --account ${id} --yes`)).toEqual([{ account_id: id, status: 'deleted' }]);
    expect(await statusOf(key)).toBe(401);
    expect((await admin(`account delete --account ${id} --yes`)).err).toContain('already deleted');
    expect((await admin(`account unfreeze --account ${id}`)).err).toContain('is deleted');
    expect((await admin('account show --email gone@example.com')).err).toContain('has no account');
    expect(await done(`account export --account ${id}`)).toMatchObject([
      { type: 'account', email: '', status: 'deleted' },
      { type: 'ledger', kind: 'grant', amount: 200 },
    ]);
  });

  test('the export holds the account, keys, monitors and the ledger, and no secret', async () => {
    const { id, key } = await newAccount('export@example.com');
    const monitor = await api.monitor(key, { webhook_url: 'https://receiver.example/hook' });
    const lines = await done(`account export --account ${id}`);
    expect(lines.map(({ type }) => type)).toEqual(['account', 'key', 'monitor', 'ledger', 'ledger']);
    expect(lines[2]).toMatchObject({ id: monitor.id, webhook_url: 'https://receiver.example/hook' });
    expect(JSON.stringify(lines)).not.toMatch(/secret|hash|fk_/);
  });
});

test('keys: made, listed, revoked', async () => {
  const { id, key } = await newAccount('keys@example.com');
  const [made] = await done('key create --email keys@example.com --name the~laptop');
  expect(made).toMatchObject({ account_id: id, name: 'the laptop' });
  expect(await statusOf(made!.api_key as string)).toBe(200);
  expect(await done('key list --email keys@example.com')).toMatchObject([
    { key_id: key.slice(3, 11), name: 'first key' },
    { key_id: made!.key_id, name: 'the laptop' },
  ]);
  expect(await done(`key revoke --account ${id} --key ${made!.key_id as string}`)).toMatchObject([
    { status: 'revoked' },
  ]);
  expect([await statusOf(made!.api_key as string), await statusOf(key)]).toEqual([401, 200]);
  expect(await done(`key revoke --account ${id} --key ${made!.key_id as string}`)).toMatchObject([
    { status: 'revoked' },
  ]);
  expect((await admin(`key revoke --account ${id} --key zzzzzzzz`)).err).toContain('has no key zzzzzzzz');
});

test.each([
  ['account grant --email a@b.co --account acc_1 --credits 5 --reference x', 'not both'],
  ['account grant --email nobody@b.co --credits 5 --reference x', 'nobody@b.co has no account'],
  ['key revoke --email a@b.co --key fk_0123456', 'not the whole key'],
])('%s: one sentence, nothing printed', async (command, message) => {
  const { code, out, err } = await admin(command);
  expect([code, out, err]).toEqual([1, [], expect.stringContaining(message) as string]);
});
