import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pack } from '../../../shared/billing/rules/plans.ts';
import { randomText } from '../../../shared/rules/identifiers.ts';
import { openAccount } from '../../../shared/accounts/accounts.ts';
import type { OpenedAccount } from '../../../shared/accounts/accounts.ts';
import { ApiProcess } from '../../support/children/api-process.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let processes: ApiProcess[];

beforeAll(async () => {
  db = await createTestDatabase();
  processes = await Promise.all([ApiProcess.start(db.url), ApiProcess.start(db.url)]);
});

afterAll(async () => {
  await Promise.all(processes.map((one) => one.kill()));
  await db.drop();
});

const READ = '/v1/forum/subreddits';

async function newAccount(credits: number, pack: Pack): Promise<OpenedAccount> {
  const email = `${randomText(12)}@example.com`;
  const opened = await inTransaction(db.pool, (client) =>
    openAccount(client, { email, credits, pack, keyName: 'test' }),
  );
  return opened!;
}

async function ledgerOf(accountId: string): Promise<{ balance: number; sum: number; charges: number }> {
  const { rows } = await db.pool.query<{ balance: number; sum: number; charges: number }>(
    `SELECT balance, (SELECT sum(amount)::bigint FROM ledger_entries WHERE account_id = $1) AS sum,
       (SELECT count(*) FROM ledger_entries WHERE account_id = $1 AND amount < 0) AS charges
     FROM accounts WHERE id = $1`,
    [accountId],
  );
  return rows[0]!;
}

/** Sends the requests to the processes in turn, all at once. */
function flood(key: string, requests: number) {
  return Promise.all(
    Array.from({ length: requests }, (_, at) => processes[at % processes.length]!.call(key, 'GET', READ)),
  );
}

test('500 parallel charges on a balance of 100: exactly 100 succeed', async () => {
  const { apiKey, accountId } = await newAccount(100, 79);
  const replies = await flood(apiKey, 500);
  expect(replies.filter(({ status, used }) => status === 200 && used === 1)).toHaveLength(100);
  expect(replies.filter(({ code }) => code === 'insufficient_credits')).toHaveLength(400);
  expect(await ledgerOf(accountId)).toEqual({ balance: 0, sum: 0, charges: 100 });
});

test('with a limit of one monitor, 50 concurrent creates make one monitor and charge it once', async () => {
  const { apiKey, accountId } = await newAccount(1_000, 0);
  const body = { name: 'one', keywords: ['rust'] };
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, at) => processes[at % 2]!.call(apiKey, 'POST', '/v1/monitors', body)),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(replies.filter(({ code }) => code === 'monitor_limit_reached')).toHaveLength(49);
  expect(await ledgerOf(accountId)).toEqual({ balance: 990, sum: 990, charges: 1 });
});

test('after a kill during requests, every answer received was charged once and nothing is half done', async () => {
  const { apiKey, accountId } = await newAccount(10_000, 79);
  const requests = Array.from({ length: 630 }, (_, at) =>
    at % 21 < 20
      ? processes[at % 2]!.call(apiKey, 'GET', READ)
      : processes[at % 2]!.call(apiKey, 'POST', '/v1/monitors', { name: `m${at}`, keywords: ['rust'] }),
  );
  // The first answer has arrived, and many requests are under way.
  await Promise.race(requests.filter((_, at) => at % 2 === 1));
  // These can be charged only after the kill.
  const holder = await db.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [accountId]);
  for (let more = 0; more < 20; more++) requests.push(processes[1]!.call(apiKey, 'GET', READ));
  await processes[1]!.kill();
  await holder.query('COMMIT');
  holder.release();
  const replies = await Promise.all(requests);
  const lost = replies.filter(({ status }) => status === 0).length;
  expect(lost).toBeGreaterThan(0);
  const answered = replies.filter(({ used }) => used > 0);
  // PostgreSQL may still be executing statements of the killed process.
  await db.pool.query('SELECT id FROM accounts WHERE id = $1 FOR UPDATE', [accountId]);
  const { balance, sum, charges } = await ledgerOf(accountId);
  expect(balance).toBe(sum);
  expect(charges).toBeGreaterThanOrEqual(answered.length);
  expect(charges).toBeLessThanOrEqual(answered.length + lost);
  const { rows } = await db.pool.query<{ monitors: number; paid: number }>(
    `SELECT (SELECT count(*) FROM monitors WHERE account_id = $1) AS monitors,
         (SELECT count(*) FROM ledger_entries WHERE account_id = $1 AND kind = 'monitor_create') AS paid`,
    [accountId],
  );
  expect(rows[0]!.monitors).toBe(rows[0]!.paid);
  processes[1] = await ApiProcess.start(db.url);
  expect((await processes[1].call(apiKey, 'GET', READ)).status).toBe(200);
});
