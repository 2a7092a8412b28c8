import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findLedgerMismatches } from '../../../shared/stores/ledger/ledger-check.ts';
import { anyAction, BillerActions } from '../../support/oracles/biller-actions.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await refuseChargesOfStoppedMonitors();
});
afterAll(() => db.drop());

/**
 * Triggers check each charge in the database: a renewal must find its monitor running in the latest committed state and
 * its account active; and when the charge of a period commits, the monitor must be in that period and
 * running.
 */
async function refuseChargesOfStoppedMonitors(): Promise<void> {
  await db.pool.query(`
    CREATE FUNCTION watch_renewal() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM monitors m JOIN accounts a ON a.id = m.account_id
                        WHERE m.id = split_part(NEW.reference, ':', 1) AND m.status = 'active' AND a.status = 'active'
                          AND m.next_charge_at <= service_now()) THEN
          RAISE EXCEPTION 'a renewal of a monitor that is not due: %', NEW.reference;
        END IF;
        RETURN NULL;
      END $$;
    CREATE TRIGGER watch_renewal AFTER INSERT ON ledger_entries
      FOR EACH ROW WHEN (NEW.kind = 'monitor_renewal') EXECUTE FUNCTION watch_renewal();
    CREATE FUNCTION watch_period() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM monitors m
                        WHERE m.id = split_part(NEW.reference, ':', 1) AND m.status = 'active'
                          AND m.period_no = split_part(NEW.reference, ':', 2)::integer) THEN
          RAISE EXCEPTION 'a charge without its period: %', NEW.reference;
        END IF;
        RETURN NULL;
      END $$;
    CREATE CONSTRAINT TRIGGER watch_period AFTER INSERT ON ledger_entries DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.kind LIKE 'monitor\\_%') EXECUTE FUNCTION watch_period();`);
}

interface Bounds {
  /** Accounts whose balance differs from the granted credits minus 10 per period of each monitor. */
  wrong_balances: number;
  /** Monitors that do not have exactly one charge, of any kind, for each period up to the present one. */
  wrong_periods: number;
  /** Running monitors that are due now or in more than a day. */
  wrong_times: number;
  /** Monitors of deleted accounts that are not deleted. */
  survivors: number;
}

async function boundsOf(accountIds: readonly string[]): Promise<Bounds> {
  const { rows } = await db.pool.query<Bounds>(
    `WITH mine AS (SELECT * FROM monitors WHERE account_id = ANY ($1))
     SELECT
       (SELECT count(*) FROM accounts a
         WHERE a.id = ANY ($1) AND a.balance <>
           (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE account_id = a.id AND kind = 'grant')
           - 10 * (SELECT coalesce(sum(period_no), 0) FROM mine WHERE account_id = a.id)) AS wrong_balances,
       (SELECT count(*) FROM mine
         WHERE ARRAY(SELECT generate_series(1, mine.period_no))
           <> ARRAY(SELECT split_part(reference, ':', 2)::integer FROM ledger_entries
                     WHERE account_id = mine.account_id AND reference LIKE mine.id || ':%' ORDER BY 1)) AS wrong_periods,
       (SELECT count(*) FROM mine
         WHERE status = 'active' AND (next_charge_at <= service_now()
           OR next_charge_at > service_now() + interval '24 hours')) AS wrong_times,
       (SELECT count(*) FROM mine JOIN accounts a ON a.id = mine.account_id
         WHERE a.status = 'deleted' AND mine.status <> 'deleted') AS survivors`,
    [accountIds],
  );
  return rows[0]!;
}

test('charges each period once and nothing else, whatever clients, operators, billers and the clock do concurrently', async () => {
  const workers = fc.array(fc.array(anyAction, { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(workers, fc.integer({ min: 0, max: 120 }), async (plans, credits) => {
      const accounts = await insertPayingAccounts(db.pool, { accounts: 2, monitors: 0, credits });
      const accountIds = accounts.map(({ accountId }) => accountId);
      const actions = new BillerActions(db, accountIds);
      for (const account of [0, 0, 1]) await actions.run({ kind: 'create', account });
      await Promise.all(
        plans.map(async (plan) => {
          for (const action of plan) await actions.run(action);
        }),
      );
      while ((await actions.renew(3)) > 0);
      expect(await boundsOf(accountIds)).toEqual({ wrong_balances: 0, wrong_periods: 0, wrong_times: 0, survivors: 0 });
      expect((await findLedgerMismatches(db.pool, '', 10_000)).mismatches).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
