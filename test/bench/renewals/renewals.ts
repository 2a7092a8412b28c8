/**
 * `npm run --silent bench -- renewals [--accounts N] [--monitors N] [--billers N]`: the time to renew all monitors that
 * are due at the same moment, with several concurrent biller processes, and again with one that is killed half-way.
 * Verifies that each monitor is charged exactly once. Baseline in the same run: the bare writes of the same rows in one
 * statement. Runs on embedded Postgres, or on TEST_POSTGRES_URL.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findRenewalFaults, insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { openPostgres } from '../shared/postgres-engine.ts';

const OPTIONS = {
  accounts: { type: 'string', default: '5000' },
  monitors: { type: 'string', default: '20' },
  billers: { type: 'string', default: '2' },
} as const;
const ACCOUNTS_A_STATEMENT = 250;

interface Size {
  accounts: number;
  /** The monitors of each account. */
  monitors: number;
  billers: number;
}

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const size = {
    accounts: Number(values.accounts),
    monitors: Number(values.monitors),
    billers: Number(values.billers),
  };
  const engine = await openPostgres();
  try {
    report(await measure('bare writes', engine.url, size, writeBarely));
    report(await measure('billers', engine.url, size, (db) => renew(db, size)));
    report(await measure('billers, one killed half-way', engine.url, size, (db) => renew(db, size, true)));
  } finally {
    await engine.stop();
  }
}

interface Measured {
  seconds: number;
  billers?: number;
  /** The renewals of each biller; null if it was killed. */
  decided?: (number | null)[];
  renewed_when_killed?: number;
}

type Work = (db: TestDatabase) => Promise<Measured>;

async function measure(what: string, url: string, size: Size, work: Work): Promise<object> {
  const db = await createTestDatabase(url);
  try {
    const total = size.accounts * size.monitors;
    await seed(db, size);
    const { seconds, ...details } = await work(db);
    const faults = await findRenewalFaults(db.pool);
    const renewed = await countRenewed(db);
    if (renewed !== total || Object.values(faults).some((count) => count > 0)) {
      throw new Error(`of ${total} monitors ${renewed} were renewed; ${JSON.stringify(faults)}`);
    }
    const rate = Math.round(total / seconds);
    return {
      what,
      monitors: total,
      seconds: Number(seconds.toFixed(2)),
      monitors_per_s: rate,
      exactly_once: true,
      ...details,
    };
  } finally {
    await db.drop();
  }
}

async function seed(db: TestDatabase, { accounts, monitors }: Size): Promise<void> {
  for (let seeded = 0; seeded < accounts; seeded += ACCOUNTS_A_STATEMENT) {
    const count = Math.min(ACCOUNTS_A_STATEMENT, accounts - seeded);
    await insertPayingAccounts(db.pool, { accounts: count, monitors, credits: 10_000 });
  }
  await db.pool.query('UPDATE monitors SET next_charge_at = (SELECT min(next_charge_at) FROM monitors)');
  await db.pool.query('VACUUM ANALYZE');
  await db.pool.query('CHECKPOINT');
}

/** Checks that each was charged once, by ledger row and by balance. */
async function countRenewed(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query<{ renewed: number; charged: number }>(
    `SELECT (SELECT count(*) FROM monitors m
              JOIN ledger_entries e ON e.account_id = m.account_id AND e.kind = 'monitor_renewal' AND e.reference = m.id || ':2'
              WHERE m.status = 'active' AND m.period_no = 2 AND m.next_charge_at > service_now()) AS renewed,
            (SELECT sum(10000 - balance)::bigint FROM accounts) AS charged`,
  );
  const { renewed, charged } = rows[0]!;
  return charged === 10 * renewed ? renewed : -1;
}

/**
 * The baseline: the same rows written in one statement without locks, tests or decisions. It is copied here, so that it
 * does not change.
 */
async function writeBarely(db: TestDatabase): Promise<{ seconds: number }> {
  const client = await db.pool.connect();
  try {
    await client.query('SET statement_timeout = 0');
    const begun = performance.now();
    await client.query(
      `WITH renewed AS (
         UPDATE monitors SET period_no = period_no + 1, next_charge_at = next_charge_at + interval '24 hours'
         RETURNING id, account_id, period_no
       ), charged AS (
         UPDATE accounts a SET balance = balance - 10 * r.n
         FROM (SELECT account_id, count(*) AS n FROM renewed GROUP BY account_id) AS r
         WHERE a.id = r.account_id
         RETURNING a.id, a.balance
       )
       INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
       SELECT r.account_id, 'monitor_renewal', -10,
         c.balance + 10 * (count(*) OVER of_account - row_number() OVER (of_account ORDER BY r.id)), r.id || ':' || r.period_no
       FROM renewed r JOIN charged c ON c.id = r.account_id
       WINDOW of_account AS (PARTITION BY r.account_id)`,
    );
    return { seconds: (performance.now() - begun) / 1_000 };
  } finally {
    client.release(true);
  }
}

async function renew(db: TestDatabase, size: Size, killOne = false): Promise<Measured> {
  const children = Array.from({ length: size.billers }, () =>
    fork(join(import.meta.dirname, 'renewals-child.ts'), [db.url], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
  await Promise.all(children.map((child) => once(child, 'message')));
  const ends = children.map(decidedBy);
  const begun = performance.now();
  for (const child of children) child.send('go');
  const half = (size.accounts * size.monitors) / 2;
  const killed = killOne ? { renewed_when_killed: await killHalfWay(db, children[0]!, half) } : {};
  const decided = await Promise.all(ends);
  return { seconds: (performance.now() - begun) / 1_000, billers: size.billers, decided, ...killed };
}

/** The renewals that a biller reports; null if it was killed. */
async function decidedBy(child: ChildProcess): Promise<number | null> {
  const told: { decided: number }[] = [];
  child.on('message', (message: { decided: number }) => told.push(message));
  await once(child, 'exit');
  if (child.signalCode === 'SIGKILL') return null;
  if (!told[0]) throw new Error(`a biller ended with ${child.exitCode}`);
  return told[0].decided;
}

async function killHalfWay(db: TestDatabase, child: ChildProcess, half: number): Promise<number> {
  for (;;) {
    const { rows } = await db.pool.query<{ n: number }>(
      `SELECT count(*) AS n FROM ledger_entries WHERE kind = 'monitor_renewal'`,
    );
    if (rows[0]!.n >= half) {
      child.kill('SIGKILL');
      return rows[0]!.n;
    }
    await wait(20);
  }
}
