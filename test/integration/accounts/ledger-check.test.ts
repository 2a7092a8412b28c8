import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runAdmin } from '../../../services/admin/run-admin.ts';
import { checkLedger } from '../../../services/biller/reconciliation.ts';
import { BACKGROUND_LIMITS, createPool, inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { compareLedger, findLedgerMismatches, correctLedger } from '../../../shared/billing/ledger-check.ts';
import { charge, chargeTogether, credit } from '../../../shared/billing/ledger.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
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

type Line = Record<string, unknown>;

async function admin(command: string) {
  const out: Line[] = [];
  const err: string[] = [];
  const terminal = { out: (line: string) => out.push(JSON.parse(line) as Line), err: (line: string) => err.push(line) };
  const code = await runAdmin(command.split(' '), { DATABASE_URL: db.url }, terminal);
  return { code, out, err: err.join('\n') };
}

/** An account with a grant of 100, a charge of 1, and then a wrong balance. */
async function wrongAccount(balance: number): Promise<string> {
  const inserted = await insertPayingAccounts(db.pool, { accounts: 1, monitors: 0, credits: 100 });
  const { accountId } = inserted[0]!;
  await charge(db.pool, { accountId, kind: 'read', credits: 1, reference: 'first' });
  await db.pool.query('UPDATE accounts SET balance = $2 WHERE id = $1', [accountId, balance]);
  return accountId;
}

/** An entry that somebody wrote by hand. */
async function writeByHand(accountId: string, amount: number, balanceAfter: number): Promise<void> {
  await db.pool.query(
    `INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference) VALUES ($1, 'read', $2, $3, 'hand')`,
    [accountId, amount, balanceAfter],
  );
}

async function corrections(accountId: string): Promise<Line[]> {
  const { rows } = await db.pool.query<Line>(
    `SELECT amount, balance_after, reference FROM ledger_entries
     WHERE account_id = $1 AND kind = 'correction' ORDER BY id`,
    [accountId],
  );
  return rows;
}

const stateOf = async (accountId: string) => (await compareLedger(db.pool, accountId))!;

test.each<[what: string, balance: number, trust: 'ledger' | 'balance', amount: number, corrected: number]>([
  ['a surplus is taken away', 150, 'ledger', 0, 99],
  ['a deficit is given back', 3, 'ledger', 0, 99],
  ['an empty balance is filled', 0, 'ledger', 0, 99],
  ['a surplus is written down', 150, 'balance', 51, 150],
  ['a deficit is written down', 3, 'balance', -96, 3],
  ['an empty balance is written down', 0, 'balance', -99, 0],
])('%s (balance %i, the %s is right)', async (_, balance, trust, amount, corrected) => {
  const id = await wrongAccount(balance);
  const command = `ledger correct --account ${id} --reference ticket-17 --trust ${trust}`;
  const { code, out } = await admin(command);
  expect([code, out]).toEqual([
    0,
    [
      {
        ...{ account_id: id, corrected: true, trusted: trust, balance_before: balance, sum_before: 99 },
        ...{ broken_entries: 0, amount, credits: corrected, reference: 'ticket-17' },
      },
      { accounts_that_differ: 0 },
    ],
  ]);
  const right = { accountId: id, balance: corrected, sum: corrected, brokenEntries: 0, firstBrokenId: null };
  expect(await stateOf(id)).toEqual(right);
  expect(await corrections(id)).toEqual([{ amount, balance_after: corrected, reference: 'ticket-17' }]);

  // Repeated, also by somebody who trusts the other one.
  const again = await admin(`ledger correct --account ${id} --reference ticket-17`);
  const status = 'nothing was changed: ticket-17 was used before';
  expect([again.code, again.out[0]]).toEqual([0, { account_id: id, corrected: false, credits: corrected, status }]);
  expect(await corrections(id)).toHaveLength(1);

  await credit(db.pool, { accountId: id, kind: 'grant', credits: 10, reference: 'later' });
  expect(await stateOf(id)).toEqual({ ...right, balance: corrected + 10, sum: corrected + 10 });
  const { rows } = await db.pool.query('SELECT sum(credits)::int AS used FROM usage_days WHERE account_id = $1', [id]);
  expect(rows, 'corrections are not usage').toEqual([{ used: 1 }]);
});

test('entries that did not follow from each other count until a correction, later ones count again', async () => {
  const id = await wrongAccount(95);
  await writeByHand(id, -4, 90);
  const broken = await stateOf(id);
  expect(broken).toMatchObject({ balance: 95, sum: 95, brokenEntries: 1 });
  const checked = await admin(`ledger check --account ${id}`);
  expect(checked).toMatchObject({ code: 1, out: [{ account_id: id, first_broken_id: broken.firstBrokenId }] });
  expect((await admin(`ledger correct --account ${id} --reference a`)).code).toBe(0);
  expect(await corrections(id)).toEqual([{ amount: 0, balance_after: 95, reference: 'a' }]);
  expect(await admin(`ledger check --account ${id}`)).toMatchObject({ code: 0, out: [{ broken_entries: 0 }] });

  await charge(db.pool, { accountId: id, kind: 'read', credits: 5, reference: 'after' });
  await db.pool.query(
    `INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference) VALUES ($1, 'read', -1, 7, 'bad')`,
    [id],
  );
  expect(await stateOf(id)).toMatchObject({ balance: 90, sum: 89, brokenEntries: 1 });
  const again = await admin(`ledger correct --account ${id} --reference a`);
  expect([again.code, again.out, again.err]).toEqual([1, [], expect.stringContaining('differs again')]);
  expect((await admin(`ledger correct --account ${id} --reference b --trust balance`)).code).toBe(0);
  expect(await stateOf(id)).toMatchObject({ balance: 90, sum: 90, brokenEntries: 0 });
});

test('a ledger whose sum is below 0 never makes a balance negative', async () => {
  const id = await wrongAccount(20);
  await writeByHand(id, -1_000, 0);
  const refused = await admin(`ledger correct --account ${id} --reference a`);
  expect([refused.code, refused.out]).toEqual([1, []]);
  expect(refused.err).toContain('the sum of the ledger is -901, but a balance is never below 0');
  expect(await corrections(id)).toEqual([]);
  expect((await admin(`ledger correct --account ${id} --reference a --trust balance`)).out[0]).toMatchObject({
    ...{ amount: 921, credits: 20 },
  });
  expect(await stateOf(id)).toMatchObject({ balance: 20, sum: 20, brokenEntries: 0 });
});

test.each(['ledger', 'balance'] as const)('charges during corrections are in both (%s)', async (trusted) => {
  const id = await wrongAccount(150);
  const charges = (from: number) =>
    Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        charge(db.pool, { accountId: id, kind: 'read', credits: 1, reference: `${from + at}` }),
      ),
    );
  const correct = (reference: string) =>
    inTransaction(db.pool, (client) => correctLedger(client, { accountId: id, reference, trusted }));
  const [, first, , ...others] = await Promise.all([
    charges(0),
    correct('a'),
    charges(10),
    correct('a'),
    correct('b'),
    correct('c'),
  ]);
  const outcomes = [first, ...others].map((one) => one!.outcome).sort();
  expect(outcomes.filter((outcome) => outcome === 'corrected')).toHaveLength(1);
  const right = trusted === 'ledger' ? 79 : 130;
  expect(await stateOf(id)).toMatchObject({ balance: right, sum: right, brokenEntries: 0 });
});

describe('the daily check', () => {
  /** Other tests leave wrong ledgers behind. */
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

  async function check(pool: Pool = db.pool): Promise<Checked> {
    const logged: string[] = [];
    const logger = createLogger('error', {
      write: (line) => void logged.push((JSON.parse(line) as { account_id: string }).account_id),
    });
    const metrics = createMetrics();
    const finished = await checkLedger({ pool, metrics, logger, mayContinue: () => Promise.resolve(true) });
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
    while (checks.length < 10 || (await entries()) < 500) checks.push(await check());
    working = false;
    await Promise.all(workers);
    expect(checks).toEqual(checks.map(() => ({ finished: true, mismatches: 0, logged: [] })));
  });

  test('a page that takes too long is split; an account whose ledger alone takes too long is reported, and the others are checked', async () => {
    const [first, long, last] = (await accounts(3)) as [string, string, string];
    // Reading the ledger of this account takes three seconds.
    await db.pool.query(`
    ALTER TABLE ledger_entries RENAME TO ledger_rows;
    CREATE VIEW ledger_entries AS
      SELECT * FROM ledger_rows WHERE account_id <> '${long}' OR pg_sleep(3)::text = '';`);
    await db.pool.query('UPDATE accounts SET balance = balance + 1 WHERE id = ANY ($1)', [[first, last]]);
    const hurried = createPool({
      url: db.url,
      name: 'hurried',
      logger: silentLogger(),
      limits: { ...BACKGROUND_LIMITS, statementMs: 1_000 },
    });
    expect(await check(hurried)).toEqual({ finished: true, mismatches: 2, logged: [first, long, last] });
    await hurried.end();
  });
});
