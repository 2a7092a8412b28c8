import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkLedger } from '../../../services/biller/ledger-check.ts';
import { Lease } from '../../../services/biller/lease.ts';
import { BACKGROUND_LIMITS, createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { charge, chargeTogether, credit } from '../../../shared/stores/ledger/ledger.ts';
import { findLedgerMismatches, secondsUntilTomorrow } from '../../../shared/stores/ledger/ledger-check.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

async function accounts(count: number, credits = 100): Promise<string[]> {
  const inserted = await insertPayingAccounts(db.pool, { accounts: count, monitors: 0, credits });
  return inserted.map(({ accountId }) => accountId).sort();
}

interface Checked {
  finished: boolean;
  /** The value of the gauge. */
  mismatches: number;
  /** Account ids of the logged errors. */
  logged: string[];
}

async function check(pool: Pool = db.pool, mayContinue = () => Promise.resolve(true)): Promise<Checked> {
  const logged: string[] = [];
  const logger = createLogger('error', {
    write: (line) => void logged.push((JSON.parse(line) as { account_id: string }).account_id),
  });
  const metrics = createMetrics();
  const { signal } = new AbortController();
  const finished = await checkLedger({ pool, metrics, logger, signal, mayContinue });
  const gauge = await metrics.registry.getSingleMetric('ledger_mismatches')!.get();
  return { finished, mismatches: gauge.values[0]!.value, logged };
}

test('finds a balance changed without an entry, and entries that do not follow from each other, among correct accounts', async () => {
  const [first, higher, chained, moved, empty] = (await accounts(205)) as [string, string, string, string, string];
  for (const accountId of [first, chained, moved]) {
    await charge(db.pool, { accountId, kind: 'read', credits: 1, reference: '1' });
  }
  await db.pool.query('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [higher]);
  await db.pool.query(`UPDATE accounts SET balance = 0 WHERE id = $1`, [empty]);
  const badEntry = `INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
                    VALUES ($1, 'read', -4, $2, 'bad')`;
  // The amount is in the balance, but the entry states another one: the sum is right, the chain is not.
  await db.pool.query(badEntry, [chained, 90]);
  await db.pool.query('UPDATE accounts SET balance = balance - 4 WHERE id = $1', [chained]);
  await charge(db.pool, { accountId: chained, kind: 'read', credits: 1, reference: '2' });
  // The chain is right, but the balance was not changed.
  await db.pool.query(badEntry, [moved, 95]);

  const { mismatches } = await findLedgerMismatches(db.pool, '', 1_000);
  expect(mismatches).toEqual([
    { accountId: higher, balance: 101, sum: 100, brokenEntries: 0, firstBrokenId: null },
    { accountId: chained, balance: 94, sum: 94, brokenEntries: 2, firstBrokenId: expect.any(Number) as number },
    { accountId: moved, balance: 99, sum: 95, brokenEntries: 0, firstBrokenId: null },
    { accountId: empty, balance: 0, sum: 100, brokenEntries: 0, firstBrokenId: null },
  ]);
  const { rows } = await db.pool.query('SELECT reference FROM ledger_entries WHERE id = $1', [
    mismatches[1]!.firstBrokenId,
  ]);
  expect(rows).toEqual([{ reference: 'bad' }]);
  expect(await check()).toEqual({ finished: true, mismatches: 4, logged: [higher, chained, moved, empty] });
});

test('finds no error while 8 chargers and a granter are running', async () => {
  const ids = await accounts(5, 10_000);
  let working = true;
  const workers = Array.from({ length: 9 }, async (_, worker) => {
    for (let at = 0; working; at++) {
      const accountId = ids[(worker + at) % ids.length]!;
      const reference = `${worker} ${at}`;
      if (worker === 8) await credit(db.pool, { accountId, kind: 'grant', credits: 50, reference });
      else if (worker % 2 === 0) await charge(db.pool, { accountId, kind: 'read', credits: 1, reference });
      else {
        const moves = ids.map((id) => ({ accountId: id, kind: 'read' as const, credits: 1, reference }));
        await chargeTogether(db.pool, moves);
      }
    }
  });
  const entries = async () => {
    const { rows } = await db.pool.query<{ n: number }>('SELECT count(*) AS n FROM ledger_entries');
    return rows[0]!.n;
  };
  const checks: Checked[] = [];
  while (checks.length < 30 || (await entries()) < 2_000) checks.push(await check());
  working = false;
  await Promise.all(workers);
  expect(checks).toEqual(checks.map(() => ({ finished: true, mismatches: 0, logged: [] })));
});

test('a page that takes too long is split; an account whose ledger alone takes too long is reported, and the others are checked', async () => {
  const [first, long, last] = (await accounts(3)) as [string, string, string];
  // Reading the ledger of this account takes eight seconds.
  await db.pool.query(`
    ALTER TABLE ledger_entries RENAME TO ledger_rows;
    CREATE VIEW ledger_entries AS
      SELECT * FROM ledger_rows WHERE account_id <> '${long}' OR pg_sleep(8)::text = '';`);
  await db.pool.query('UPDATE accounts SET balance = balance + 1 WHERE id = ANY ($1)', [[first, last]]);
  const hurried = createPool({
    url: db.url,
    name: 'hurried',
    logger: silentLogger(),
    limits: { ...BACKGROUND_LIMITS, statementMs: 2_000 },
  });
  expect(await check(hurried)).toEqual({ finished: true, mismatches: 2, logged: [first, long, last] });
  await hurried.end();
});

test('the lease of a check lasts until the UTC day ends, so nobody checks twice a day', async () => {
  await db.freeze();
  const leaseOf = () => new Lease(db.pool, 'ledger-check', 86_400);
  const [mine, other] = [leaseOf(), leaseOf()];
  expect([await mine.mayContinue(), await other.mayContinue()]).toEqual([true, false]);
  const left = await secondsUntilTomorrow(db.pool);
  await mine.holdFor(left);
  await mine.release();
  await db.freeze(`${left - 1} seconds`);
  expect([await mine.mayContinue(), await other.mayContinue()]).toEqual([false, false]);
  await db.freeze('1.001 seconds');
  const { rows } = await db.pool.query(`SELECT service_now()::time < '00:00:01' AS is_midnight FROM service_clock`);
  expect(rows).toEqual([{ is_midnight: true }]);
  expect([await mine.mayContinue(), await other.mayContinue()]).toEqual([true, false]);
});
