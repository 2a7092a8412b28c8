import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { charge, credit } from '../../shared/stores/ledger.ts';
import { ensureSecretKey } from '../../shared/stores/settings.ts';
import { ensureDemoAccount } from '../../services/api/demo-account.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { TestDatabase } from '../support/test-database.ts';
import { startTestApi } from '../support/test-api.ts';
import type { TestApi } from '../support/test-api.ts';

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

test('the generated secret key is one, however many processes ask first', async () => {
  const keys = await Promise.all(Array.from({ length: 12 }, () => ensureSecretKey(db.pool)));
  expect(new Set(keys).size).toBe(1);
  expect(Buffer.from(keys[0]!, 'base64')).toHaveLength(32);
  expect(await ensureSecretKey(db.pool)).toBe(keys[0]);
});

test('50 charges of 3 at once on 100 credits: 33 succeed, and every row tells the balance after it', async () => {
  const { accountId } = await api.account({ credits: 100 });
  const balances = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      charge(db.pool, { accountId, kind: 'read', credits: 3, reference: `request ${at}` }),
    ),
  );
  expect(balances.filter((balance) => balance !== undefined).toSorted((a, b) => b - a)).toEqual(
    Array.from({ length: 33 }, (_, at) => 97 - 3 * at),
  );
  const { rows } = await db.pool.query<{ balance: number; sum: number }>(
    `SELECT balance, (SELECT sum(amount)::bigint FROM ledger_entries WHERE account_id = $1) AS sum FROM accounts WHERE id = $1`,
    [accountId],
  );
  expect(rows).toEqual([{ balance: 1, sum: 1 }]);
});

test('the same charge or credit again is refused and moves nothing', async () => {
  const { accountId } = await api.account({ credits: 100 });
  const renewal = { accountId, kind: 'monitor_renewal', credits: 10, reference: 'mon_a:2' } as const;
  const refund = { accountId, kind: 'refund', credits: 5, reference: 'r1' } as const;
  expect([await charge(db.pool, renewal), await credit(db.pool, refund)]).toEqual([90, 95]);
  await expect(charge(db.pool, renewal)).rejects.toThrow('unique');
  await expect(credit(db.pool, refund)).rejects.toThrow('unique');
  await expect(credit(db.pool, { ...refund, accountId: 'acc_none' })).rejects.toThrow('no account');
  const { rows } = await db.pool.query('SELECT balance FROM accounts WHERE id = $1', [accountId]);
  expect(rows).toEqual([{ balance: 95 }]);
});

test('ledger rows are never changed or deleted', async () => {
  await api.account();
  await expect(db.pool.query('UPDATE ledger_entries SET amount = 1')).rejects.toThrow('never changed');
  await expect(db.pool.query('DELETE FROM ledger_entries')).rejects.toThrow('never changed');
});

test('the demo account: once, its key in a private file, renewed when the file is lost or wrong', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-test-demo-'));
  const works = async (key: string) => (await api.call(key, 'GET', '/v1/account')).status;
  const first = await ensureDemoAccount(db.pool, { dataDir });
  expect(first.keyFile).toBe(join(dataDir, 'demo-key'));
  expect(readFileSync(first.keyFile, 'utf8')).toBe(`${first.apiKey}\n`);
  expect(statSync(first.keyFile).mode & 0o777).toBe(0o600);
  expect((await api.call(first.apiKey, 'GET', '/v1/account')).body).toMatchObject({
    email: 'demo@localhost',
    balance: 70_000,
    plan: 'pack_79',
  });

  await api.monitor(first.apiKey);
  expect(await ensureDemoAccount(db.pool, { dataDir })).toEqual(first);

  rmSync(first.keyFile);
  const second = await ensureDemoAccount(db.pool, { dataDir });
  expect([await works(first.apiKey), await works(second.apiKey)]).toEqual([401, 200]);
  writeFileSync(first.keyFile, 'garbage');
  const third = await ensureDemoAccount(db.pool, { dataDir });
  expect([await works(second.apiKey), await works(third.apiKey)]).toEqual([401, 200]);
  expect((await api.call(third.apiKey, 'GET', '/v1/account')).body.balance).toBe(69_990);
  rmSync(dataDir, { recursive: true });
});
