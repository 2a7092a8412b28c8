import { newAccountId, newMonitorId } from '../../shared/domain/identifiers.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';

export interface PayingAccount {
  accountId: string;
  /** By id. */
  monitorIds: string[];
}

export interface PayingAccounts {
  /** How many. */
  accounts: number;
  /** Active monitors of each, in their first period. */
  monitors: number;
  /** What each account has, given as one grant. */
  credits: number;
  /** Since when the monitors are due, as an interval; negative: in how long they are. */
  dueSince?: string;
  status?: string;
}

/** Stores accounts with monitors as if these had been created a day ago and were due at the same moment. */
export async function insertPayingAccounts(db: Queryable, setup: PayingAccounts): Promise<PayingAccount[]> {
  const accounts = Array.from({ length: setup.accounts }, () => ({
    accountId: newAccountId(),
    monitorIds: Array.from({ length: setup.monitors }, newMonitorId).sort(),
  }));
  const accountIds = accounts.map(({ accountId }) => accountId);
  const ids = accounts.flatMap(({ monitorIds }) => monitorIds);
  const owners = accounts.flatMap(({ accountId, monitorIds }) => monitorIds.map(() => accountId));
  await db.query(
    `INSERT INTO accounts (id, email, mailbox, pack, balance)
     SELECT id, id || '@example.com', id || '@example.com', 79, $2 FROM unnest($1::text[]) AS id`,
    [accountIds, setup.credits],
  );
  if (setup.credits > 0) {
    await db.query(
      `INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
       SELECT id, 'grant', $2::bigint, $2::bigint, 'test' FROM unnest($1::text[]) AS id`,
      [accountIds, setup.credits],
    );
  }
  await db.query(
    `WITH added AS (
       INSERT INTO monitors (id, account_id, name, keywords, webhook_secret, status, active_since, next_charge_at)
       SELECT id, owner, 'test', '{rust}', '', $3, wall_now() - interval '1 day', service_now() - $4::interval
       FROM unnest($1::text[], $2::text[]) AS given (id, owner)
       RETURNING id, active_since
     ), lock_rows AS (
       INSERT INTO monitor_counters (monitor_id) SELECT id FROM added
     )
     INSERT INTO monitor_versions (monitor_id, version, since) SELECT id, 1, active_since FROM added`,
    [ids, owners, setup.status ?? 'active', setup.dueSince ?? '1 minute'],
  );
  return accounts;
}

/** What must hold when no charge is under way, of all accounts and monitors of a database. */
export interface RenewalFaults {
  /** Accounts whose balance is not the sum of their entries. */
  wrong_balances: number;
  /** Periods charged more than once, whatever for. */
  charged_twice: number;
  /** Monitors whose renewals are not one for each period since the first. */
  wrong_periods: number;
}

/** For monitors that began in a first period without a charge, as insertPayingAccounts leaves them. */
export async function findRenewalFaults(db: Queryable): Promise<RenewalFaults> {
  const { rows } = await db.query<RenewalFaults>(
    `WITH renewals AS (
       SELECT split_part(reference, ':', 1) AS monitor_id, split_part(reference, ':', 2)::integer AS period_no
       FROM ledger_entries WHERE kind <> 'grant'
     )
     SELECT
       (SELECT count(*) FROM accounts a
         WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM ledger_entries e WHERE e.account_id = a.id)) AS wrong_balances,
       (SELECT count(*) FROM (SELECT FROM renewals GROUP BY monitor_id, period_no HAVING count(*) > 1) AS twice) AS charged_twice,
       (SELECT count(*) FROM monitors m
         LEFT JOIN (SELECT monitor_id, count(*) AS charged, max(period_no) AS last FROM renewals GROUP BY 1) AS r
           ON r.monitor_id = m.id
         WHERE coalesce(r.charged, 0) <> m.period_no - 1 OR coalesce(r.last, 1) <> m.period_no) AS wrong_periods`,
  );
  return rows[0]!;
}

export const NO_FAULTS: RenewalFaults = { wrong_balances: 0, charged_twice: 0, wrong_periods: 0 };
