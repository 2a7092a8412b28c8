import type { Queryable } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';

/** The balance of an account with running monitors, and what it spends. */
export interface CreditUse {
  accountId: string;
  balance: number;
  activeMonitors: number;
  /** Credits spent on reading in the last 24 hours: today's, and of yesterday's the part that is not over. */
  readingCredits: number;
}

export interface CreditUsePage {
  /**
   * Without accounts that have no running monitor, that switched the notice off, or that are told today that monitors
   * were paused.
   */
  uses: CreditUse[];
  /** Undefined: this was the last page. */
  lastId: string | undefined;
}

/**
 * Reads what active accounts spend, by id, after a given id. It reads one row per day, route and key of two days for
 * each account, however many charges there were.
 */
export async function readCreditUses(db: Queryable, afterId: string, limit: number): Promise<CreditUsePage> {
  const rows = await readRows<CreditUse & { wanted: boolean }>(db, 'notices-read-credit-uses')`
    WITH moment AS MATERIALIZED (
      SELECT now, now::date AS today, extract(epoch FROM now - now::date)::float8 / 86400 AS elapsed
      FROM (SELECT service_now() AT TIME ZONE 'UTC' AS now) AS utc
    ), page AS MATERIALIZED (
      SELECT id, balance, status FROM accounts WHERE id > ${afterId} ORDER BY id LIMIT ${limit}
    )
    SELECT page.id AS "accountId", page.balance, running.monitors AS "activeMonitors",
      CASE WHEN running.monitors = 0 THEN 0 ELSE (
        SELECT coalesce(round(sum(
          CASE WHEN u.day = moment.today THEN u.credits ELSE u.credits * (1 - moment.elapsed) END)), 0)::float8
        FROM usage_days u
        WHERE u.account_id = page.id AND u.day BETWEEN moment.today - 1 AND moment.today
          AND u.route LIKE '% /v1/forum/%'
      ) END AS "readingCredits",
      page.status = 'active' AND running.monitors > 0 AND NOT EXISTS (
        SELECT FROM notice_opt_outs o WHERE o.account_id = page.id AND o.kind = 'low_balance'
      ) AND NOT EXISTS (
        SELECT FROM notices n
        WHERE n.account_id = page.id AND n.kind = 'monitor_paused' AND n.day = moment.today
      ) AND NOT EXISTS (
        SELECT FROM notice_causes c WHERE c.account_id = page.id AND c.kind = 'monitor_paused'
      ) AS wanted
    FROM page
    CROSS JOIN moment
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS monitors FROM monitors m WHERE m.account_id = page.id AND m.status = 'active'
    ) AS running
    ORDER BY page.id`;
  const uses = rows
    .filter(({ wanted }) => wanted)
    .map(({ accountId, balance, activeMonitors, readingCredits }) => ({
      accountId,
      balance,
      activeMonitors,
      readingCredits,
    }));
  return { uses, lastId: rows.length < limit ? undefined : rows.at(-1)?.accountId };
}
