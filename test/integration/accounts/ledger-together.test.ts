import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPool, inTransaction } from '../../../shared/postgres/pool.ts';
import { lockAccount } from '../../../shared/stores/accounts/accounts.ts';
import { charge, chargeTogether } from '../../../shared/stores/ledger/ledger.ts';
import { openAccount } from '../../../shared/stores/accounts/open-account.ts';
import { ReadingCharges } from '../../../services/api/reading/reading-charge.ts';
import type { Caller } from '../../../services/api/admission/authentication.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

let opened = 0;
async function account(credits: number): Promise<string> {
  const email = `reader${opened++}@example.com`;
  const account = await inTransaction(db.pool, (client) =>
    openAccount(client, { email, credits, pack: 0, keyName: 'test' }),
  );
  return account!.accountId;
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
  const charges = new ReadingCharges(db.pool);
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

test('two processes, 500 concurrent charges on a balance of 100: exactly 100 succeed, and each balance is returned once', async () => {
  const accountId = await account(100);
  const other = createPool({ url: db.url, name: 'other', logger: silentLogger() });
  const processes = [new ReadingCharges(db.pool), new ReadingCharges(other)];
  const outcomes = await Promise.allSettled(
    Array.from({ length: 500 }, (_, at) => processes[at % 2]!.charge(callerOf(accountId), 1, REQUEST)),
  );
  await other.end();
  const balances = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.balance] : []));
  expect(balances.toSorted((a, b) => b - a)).toEqual(Array.from({ length: 100 }, (_, at) => 99 - at));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  expect(refused.every((error) => (error as { code?: string }).code === 'insufficient_credits')).toBe(true);
  const { balance, rows } = await ledgerOf(accountId);
  expect([balance, rows.length]).toEqual([0, 100]);
});

test('an expensive read is charged as far as the balance covers it, and at least one credit', async () => {
  const accountId = await account(5);
  const charges = new ReadingCharges(db.pool);
  expect(await charges.chargeCovered(callerOf(accountId), 3, REQUEST)).toEqual({ credits: 3, balance: 2 });
  expect(await charges.chargeCovered(callerOf(accountId), 16, REQUEST)).toEqual({ credits: 2, balance: 0 });
  await expect(charges.chargeCovered(callerOf(accountId), 16, REQUEST)).rejects.toMatchObject({
    code: 'insufficient_credits',
  });
});

test('a charge does not depend on the difference between the clocks of this machine and of Postgres', async () => {
  const charges = new ReadingCharges(db.pool);
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
