import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  BackfillLeaseLost,
  claimBackfill,
  endBackfill,
  releaseBackfill,
  releaseFaultyBackfill,
  renewBackfillLease,
  saveBackfillProgress,
} from '../../../shared/backfills/backfills.ts';
import type { ClaimedBackfill } from '../../../shared/backfills/backfills.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool.query('DELETE FROM backfills');
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  await db.freeze();
});

async function add(id: string, accountId: string): Promise<void> {
  await db.pool.query(
    `INSERT INTO backfills (id, monitor_id, account_id, version, rule, from_at, to_at, deliver, request_id, route)
     VALUES ($1, $1, $2, 1, '{}', service_now(), service_now(), false, 'r', 'POST /x')`,
    [id, accountId],
  );
  await db.freeze('1 millisecond');
}

const claim = () => inTransaction(db.pool, (client) => claimBackfill(client, randomUUID(), 30));

async function claimed(): Promise<ClaimedBackfill> {
  const run = await claim();
  if (run === undefined) throw new Error('there is no run to claim');
  await db.freeze('1 millisecond');
  return run;
}

test('an account has one run under way; accounts take turns, however many runs one has', async () => {
  for (const id of ['a1', 'a2', 'a3']) await add(id, 'acc_a');
  await add('b1', 'acc_b');
  const [first, second] = [await claimed(), await claimed()];
  expect([first.id, second.id]).toEqual(['a1', 'b1']);
  expect(await claim()).toBeUndefined();
  // A turn is over: the account that waited longest is next, and of its runs the one that waited longest.
  await releaseBackfill(db.pool, first, 0);
  await releaseBackfill(db.pool, second, 0);
  const order = [];
  for (let turn = 0; turn < 6; turn++) {
    const run = await claimed();
    order.push(run.id);
    await releaseBackfill(db.pool, run, 0);
  }
  expect(order).toEqual(['a2', 'b1', 'a3', 'b1', 'a1', 'b1']);
});

test('of many claims at once each run, and each account, is taken once', async () => {
  for (let account = 0; account < 4; account++) {
    for (const id of ['1', '2', '3']) await add(`${account}-${id}`, `acc_${account}`);
  }
  const accounts: string[] = [];
  await eventually('no account waits', async () => {
    const runs = await Promise.all(Array.from({ length: 16 }, claim));
    accounts.push(...runs.flatMap((run) => (run === undefined ? [] : [run.accountId])));
    return accounts.length >= 4;
  });
  expect(accounts.sort()).toEqual(['acc_0', 'acc_1', 'acc_2', 'acc_3']);
});

test('a lease ends by itself; whoever lost it changes nothing any more', async () => {
  await add('a1', 'acc_a');
  const lost = await claimed();
  expect(await renewBackfillLease(db.pool, lost, 30)).toBe(true);
  await db.freeze('31 seconds');
  const holder = await claimed();
  expect(holder.id).toBe('a1');
  expect(await renewBackfillLease(db.pool, lost, 30)).toBe(false);
  await expect(saveBackfillProgress(db.pool, lost, { ...lost, matches: 99 })).rejects.toThrow(BackfillLeaseLost);
  await expect(endBackfill(db.pool, lost, 'done')).rejects.toThrow(BackfillLeaseLost);
  await releaseBackfill(db.pool, lost, 0);
  expect(await releaseFaultyBackfill(db.pool, lost, { seconds: 0, most: 1 })).toBe(false);
  expect(await claim()).toBeUndefined();
  await endBackfill(db.pool, holder, 'done');
  const { rows } = await db.pool.query('SELECT state, matches, scanned_at = to_at AS whole FROM backfills');
  expect(rows).toEqual([{ state: 'done', matches: 0, whole: true }]);
});

test('a run that was claimed while the clock was ahead is claimed again a whole lease after it is right', async () => {
  for (const id of ['a1', 'a2']) await add(id, 'acc_a');
  await db.freeze('1 hour');
  const lost = await claimed();
  expect(lost.id).toBe('a1');
  await db.freeze('-1 hour');
  expect(await claim()).toBeUndefined();
  await db.freeze('29 seconds');
  // Whoever has it and lives may go on.
  expect(await claim()).toBeUndefined();
  expect(await renewBackfillLease(db.pool, lost, 30)).toBe(true);
  await db.freeze('31 seconds');
  expect((await claimed()).accountId).toBe('acc_a');
});

test('a cancelled run is claimed first, also while its account has another one under way, but by one process', async () => {
  for (const id of ['a1', 'a2']) await add(id, 'acc_a');
  await add('b1', 'acc_b');
  expect((await claimed()).id).toBe('a1');
  await db.pool.query(`UPDATE backfills SET cancelled_at = service_now() WHERE monitor_id IN ('a1', 'a2')`);
  expect((await claimed()).id).toBe('a2');
  expect((await claimed()).id).toBe('b1');
  expect(await claim()).toBeUndefined();
  await db.freeze('31 seconds');
  expect((await claimed()).id).toBe('a1');
});
