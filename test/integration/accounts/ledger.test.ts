import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Caller } from '../../../services/api/admission/caller.ts';
import { ensureDemoAccount } from '../../../services/api/demo-account.ts';
import { reverseUnknownCharges, noteUnknownCharges } from '../../../shared/billing/unknown-charges.ts';
import { ReadingCharges } from '../../../services/api/http/request-charges.ts';
import { createPool, eachInTransaction, inTransaction, isOutcomeUnknown } from '../../../shared/postgres/pool.ts';
import type { Pool, PoolClient } from '../../../shared/postgres/pool.ts';
import { lockAccount } from '../../../shared/accounts/accounts.ts';
import { givePack, refundPack } from '../../../shared/billing/packs.ts';
import { charge, chargeTogether, credit } from '../../../shared/billing/ledger.ts';
import { agrees, compareLedger } from '../../../shared/billing/ledger-check.ts';
import { deleteExpired } from '../../../shared/maintenance/retention.ts';
import { ensureSecretKey } from '../../../shared/maintenance/settings.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

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

async function account(credits: number): Promise<string> {
  return (await api.account({ credits, pack: 0 })).accountId;
}

function read(accountId: string, credits: number, reference: string) {
  return { accountId, kind: 'read', credits, reference } as const;
}

/** The account's balance, and its charges in the order they were written. */
async function ledgerOf(accountId: string) {
  const { rows: accounts } = await db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
    accountId,
  ]);
  const { rows } = await db.pool.query<{ reference: string; amount: number; balance_after: number }>(
    `SELECT reference, amount, balance_after FROM ledger_entries WHERE account_id = $1 AND kind = 'read' ORDER BY id`,
    [accountId],
  );
  return { balance: accounts[0]!.balance, rows: rows.map((row) => [row.reference, row.amount, row.balance_after]) };
}

const REQUEST = { requestId: 'r', route: 'GET /v1/forum/post', keyId: 'k' };

function callerOf(accountId: string): Caller {
  return { keyId: 'k', accountId, scopes: ['forum:read'], balance: 1, pack: 0 };
}

test('charges of several accounts in one statement: each row has the balance after it, in the requested order', async () => {
  const [a, b, none] = [await account(10), await account(7), 'acc_none'];
  const moves = [read(a, 1, 'a1'), read(b, 7, 'b1'), read(a, 2, 'a2'), read(none, 1, 'n1'), read(a, 3, 'a3')];
  expect(await chargeTogether(db.pool, moves)).toEqual([9, 0, 7, undefined, 4]);
  expect(await ledgerOf(a)).toEqual({
    balance: 4,
    rows: [
      ['a1', -1, 9],
      ['a2', -2, 7],
      ['a3', -3, 4],
    ],
  });
  expect(await ledgerOf(b)).toEqual({ balance: 0, rows: [['b1', -7, 0]] });
});

test('an account whose balance is too low stays unchanged; the others are charged', async () => {
  const [poor, rich] = [await account(2), await account(2)];
  const moves = [read(poor, 1, 'p1'), read(rich, 2, 'r1'), read(poor, 2, 'p2')];
  expect(await chargeTogether(db.pool, moves)).toEqual([undefined, 0, undefined]);
  expect(await ledgerOf(poor)).toEqual({ balance: 2, rows: [] });
});

test('a repeated move refuses the whole statement and moves nothing', async () => {
  const [a, b] = [await account(5), await account(5)];
  await charge(db.pool, read(a, 1, 'again'));
  await expect(chargeTogether(db.pool, [read(b, 1, 'b1'), read(a, 1, 'again')])).rejects.toThrow('unique');
  expect((await ledgerOf(a)).balance).toBe(4);
  expect(await ledgerOf(b)).toEqual({ balance: 5, rows: [] });
});

test('a locked account delays nobody else; its own charge waits and then succeeds', async () => {
  const [locked, free] = [await account(5), await account(5)];
  const charges = new ReadingCharges(db.pool, silentLogger());
  let waiting: Promise<{ balance: number }> | undefined;
  await inTransaction(db.pool, async (client) => {
    await lockAccount(client, locked);
    waiting = charges.charge(callerOf(locked), 1, REQUEST);
    expect(await chargeTogether(db.pool, [read(locked, 1, 'l1'), read(free, 1, 'f1')])).toEqual([undefined, 4]);
    expect((await charges.charge(callerOf(free), 1, REQUEST)).balance).toBe(3);
    await charge(client, read(locked, 2, 'l2'));
  });
  expect((await waiting)?.balance).toBe(2);
});

test('an expensive read is charged as far as the balance covers it, and at least one credit', async () => {
  const accountId = await account(5);
  const charges = new ReadingCharges(db.pool, silentLogger());
  expect(await charges.chargeCovered(callerOf(accountId), 3, REQUEST)).toEqual({ credits: 3, balance: 2 });
  expect(await charges.chargeCovered(callerOf(accountId), 16, REQUEST)).toEqual({ credits: 2, balance: 0 });
  await expect(charges.chargeCovered(callerOf(accountId), 16, REQUEST)).rejects.toMatchObject({
    code: 'insufficient_credits',
  });
});

test('a charge does not depend on the difference between the clocks of this machine and of Postgres', async () => {
  const charges = new ReadingCharges(db.pool, silentLogger());
  const accountId = await account(9);
  try {
    for (const [minutes, balance] of [
      [-1, 8],
      [1, 7],
    ] as const) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
      expect(await charges.charge(callerOf(accountId), 1, REQUEST)).toEqual({ credits: 1, balance });
      vi.useRealTimers();
    }
  } finally {
    vi.useRealTimers();
  }
});

describe('a statement in its own transaction', () => {
  /** With one connection, so that what one statement leaves behind meets the next. */
  let pool: Pool;
  beforeAll(async () => {
    pool = createPool({ url: db.url, name: 'each', logger: silentLogger(), max: 1 });
  });
  afterAll(() => pool.end());

  test('a statement that fails changes nothing, and the next ones work, also the same one', async () => {
    const each = eachInTransaction(pool);
    await pool.query('CREATE TABLE marks (mark int UNIQUE)');
    const insert = (mark: number) =>
      each.query({ name: 'mark', text: 'INSERT INTO marks VALUES ($1)', values: [mark] });
    await insert(1);
    await expect(insert(1)).rejects.toMatchObject({ code: '23505' });
    for (let repeat = 0; repeat < 2; repeat++) {
      await expect(each.query({ name: 'wrong', text: 'SELECT nonsense' })).rejects.toMatchObject({ code: '42703' });
    }
    await insert(2);
    expect((await pool.query('SELECT mark FROM marks ORDER BY mark')).rows).toEqual([{ mark: 1 }, { mark: 2 }]);
  });

  test('a COMMIT that fails is an error: a deferred constraint', async () => {
    const each = eachInTransaction(pool);
    await pool.query('CREATE TABLE deferred (mark int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
    const insert = { name: 'deferred', text: 'INSERT INTO deferred VALUES ($1)' };
    await each.query({ ...insert, values: [1] });
    await expect(each.query({ ...insert, values: [1] })).rejects.toMatchObject({ code: '23505' });
    expect((await pool.query('SELECT FROM deferred')).rowCount).toBe(1);
  });
});

describe('a charge whose commit got no answer', () => {
  const reverse = async () => (await reverseUnknownCharges(db.pool, 100)).length;
  const notes = async (accountId: string) =>
    (await db.pool.query('SELECT FROM unknown_charges WHERE account_id = $1', [accountId])).rowCount;

  /** The pool, whose next connections carry out COMMIT and lose the answer. */
  function losingAnswers(): Pool {
    const connect = async () => {
      const client = await db.pool.connect();
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
      const losing = async (...args: unknown[]) => {
        const answer = await query(...args);
        if (args[0] === 'COMMIT') throw new Error('Connection terminated unexpectedly');
        return answer;
      };
      return Object.assign(client, { query: losing });
    };
    return { connect, query: db.pool.query.bind(db.pool) } as unknown as Pool;
  }

  test('is given back, in the balance, the ledger and the usage: once by two billers, and when it is noted again', async () => {
    const owner = await api.account({ credits: 5, pack: 0 });
    const { accountId, apiKey } = owner;
    const charges = new ReadingCharges(losingAnswers(), silentLogger());
    const error = await charges.chargeCovered(callerOf(accountId), 3, REQUEST).catch((failure: unknown) => failure);
    expect([isOutcomeUnknown(error), (await ledgerOf(accountId)).balance]).toEqual([true, 2]);
    await eventually('it is noted', async () => (await notes(accountId)) === 1);
    await Promise.all([reverse(), reverse()]);
    const { balance, rows } = await ledgerOf(accountId);
    const reference = rows[0]![0] as string;
    await noteUnknownCharges(db.pool, [{ accountId, kind: 'read', reference }]);
    await reverse();
    expect([balance, (await ledgerOf(accountId)).balance, await notes(accountId)]).toEqual([5, 5, 0]);
    const { body } = await api.call(apiKey, 'GET', '/v1/account/ledger');
    const request = { request_id: 'r', route: 'GET /v1/forum/post', key_id: 'k', reference };
    expect(body.items).toMatchObject([
      { kind: 'reversal', amount: 3, balance_after: 5, ...request },
      { kind: 'read', amount: -3, balance_after: 2, ...request },
      { kind: 'grant' },
    ]);
    const usage = await api.call(apiKey, 'GET', '/v1/account/usage');
    expect(usage.body.total).toEqual({ charges: 0, credits: 0 });
    expect(agrees((await compareLedger(db.pool, accountId))!)).toBe(true);
  });

  test('is given back when it takes effect late, not when it never does; what the account owes is paid first', async () => {
    const accountId = await account(5);
    const move = read(accountId, 2, 'late');
    await noteUnknownCharges(db.pool, [move, read(accountId, 1, 'never')]);
    await reverse();
    expect([(await ledgerOf(accountId)).balance, await notes(accountId)]).toEqual([5, 2]);
    await charge(db.pool, move);
    await db.pool.query('UPDATE accounts SET owed = 1 WHERE id = $1', [accountId]);
    await reverse();
    expect([(await ledgerOf(accountId)).balance, await notes(accountId)]).toEqual([4, 1]);
    await db.setShift('8 days');
    onTestFinished(() => db.setShift('0'));
    expect(await deleteExpired(db.pool, 'unknown_charges', 10)).toBe(1);
  });
});
