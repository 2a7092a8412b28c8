import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { PoolClient } from '../../../shared/postgres/pool.ts';
import { charge, credit } from '../../../shared/stores/ledger/ledger.ts';
import { givePack, refundPack } from '../../../shared/stores/accounts/packs.ts';
import { ensureSecretKey } from '../../../shared/stores/upkeep/settings.ts';
import { ensureDemoAccount } from '../../../services/api/demo-account.ts';
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

test('the generated secret key is the same however many processes ask first', async () => {
  const keys = await Promise.all(Array.from({ length: 12 }, () => ensureSecretKey(db.pool)));
  expect(new Set(keys).size).toBe(1);
  expect(Buffer.from(keys[0]!, 'base64')).toHaveLength(32);
  expect(await ensureSecretKey(db.pool)).toBe(keys[0]);
});

test('a repeated charge or credit is refused and moves nothing', async () => {
  const { accountId } = await api.account({ credits: 100 });
  const renewal = { accountId, kind: 'monitor_renewal', credits: 10, reference: 'mon_a:2' } as const;
  const grant = { accountId, kind: 'grant', credits: 5, reference: 'r1' } as const;
  expect([await charge(db.pool, renewal), await credit(db.pool, grant)]).toEqual([90, 95]);
  await expect(charge(db.pool, renewal)).rejects.toThrow('unique');
  await expect(credit(db.pool, grant)).rejects.toThrow('unique');
  await expect(credit(db.pool, { ...grant, accountId: 'acc_none' })).rejects.toThrow('does not exist');
  const { rows } = await db.pool.query('SELECT balance FROM accounts WHERE id = $1', [accountId]);
  expect(rows).toEqual([{ balance: 95 }]);
});

test('ledger rows cannot be changed or deleted', async () => {
  await api.account();
  await expect(db.pool.query('UPDATE ledger_entries SET amount = 1')).rejects.toThrow('never changed');
  await expect(db.pool.query('DELETE FROM ledger_entries')).rejects.toThrow('never changed');
});

test('the demo account is created once; its key is in a private file and reissued when the file is lost or wrong', async () => {
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

const accountRow = async (accountId: string) => {
  const { rows } = await db.pool.query<{ balance: number; owed: number; pack: number; sum: number }>(
    `SELECT balance, owed, pack, (SELECT sum(amount)::bigint FROM ledger_entries WHERE account_id = $1) AS sum
     FROM accounts WHERE id = $1`,
    [accountId],
  );
  return rows[0]!;
};
const inOne = <T>(work: (client: PoolClient) => Promise<T>) => inTransaction(db.pool, work);

test('packs add their credits once, and the largest pack sets the plan', async () => {
  const { accountId } = await api.account({ credits: 10, pack: 0 });
  const give = (id: string, pack: number, credits: number) =>
    inOne((client) => givePack(client, { id, accountId, pack, credits }));
  expect(await give('p1', 29, 20_000)).toBe(20_010);
  expect(await give('p2', 9, 5_000)).toBe(25_010);
  expect(await accountRow(accountId)).toEqual({ balance: 25_010, owed: 0, pack: 29, sum: 25_010 });
  await expect(give('p2', 9, 5_000)).rejects.toThrow('unique');
  expect(await accountRow(accountId)).toMatchObject({ balance: 25_010, pack: 29 });
});

test('refunding a pack removes its limits and its credits as far as they remain; the rest is owed and paid first', async () => {
  const { accountId } = await api.account({ credits: 10, pack: 0 });
  await inOne((client) => givePack(client, { id: 'r29', accountId, pack: 29, credits: 20_000 }));
  await inOne((client) => givePack(client, { id: 'r9', accountId, pack: 9, credits: 5_000 }));
  await charge(db.pool, { accountId, kind: 'read', credits: 25_000, reference: 'much' });
  const refunds = await Promise.all(Array.from({ length: 5 }, () => inOne((client) => refundPack(client, 'r29'))));
  expect(refunds.filter((refund) => refund !== undefined)).toEqual([
    { accountId, taken: 10, owed: 19_990, balance: 0 },
  ]);
  expect(await accountRow(accountId)).toEqual({ balance: 0, owed: 19_990, pack: 9, sum: 0 });
  expect(await credit(db.pool, { accountId, kind: 'grant', credits: 9_990, reference: 'g1' })).toBe(0);
  expect(await credit(db.pool, { accountId, kind: 'grant', credits: 10_007, reference: 'g2' })).toBe(7);
  expect(await accountRow(accountId)).toEqual({ balance: 7, owed: 0, pack: 9, sum: 7 });
  const { rows } = await db.pool.query(
    'SELECT kind, amount, balance_after, reference FROM ledger_entries WHERE account_id = $1 ORDER BY id DESC LIMIT 3',
    [accountId],
  );
  expect(rows).toEqual([
    { kind: 'refund', amount: -10_000, balance_after: 7, reference: 'owed:grant:g2' },
    { kind: 'grant', amount: 10_007, balance_after: 10_007, reference: 'g2' },
    { kind: 'refund', amount: -9_990, balance_after: 0, reference: 'owed:grant:g1' },
  ]);
  expect(await inOne((client) => refundPack(client, 'none'))).toBeUndefined();
});
