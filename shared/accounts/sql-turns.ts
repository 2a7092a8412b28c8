import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRows } from '../postgres/sql.ts';

/** What the failed statements of an account may take on a UTC day, in milliseconds. */
export const FAILED_MS_PER_DAY = 60_000;

/** Longer than any statement takes with the reading of its rows. */
const LEASE_SECONDS = 60;

export type SqlTurn = 'taken' | 'busy' | 'used_up';

/**
 * Takes the turn of an account: one at a time, in all processes together. A process that dies keeps it for half a
 * minute.
 *
 * @param token a new UUID
 * @returns `used_up`: its failed statements took all that they may on this day
 */
export async function takeSqlTurn(db: Queryable, accountId: string, token: string): Promise<SqlTurn> {
  const isTaken = await isChanged(db)`
    INSERT INTO sql_statements AS s (account_id, day, running_token, running_until)
    SELECT ${accountId}, (now AT TIME ZONE 'UTC')::date, ${token}::uuid, now + make_interval(secs => ${LEASE_SECONDS})
    FROM (SELECT service_now() AS now) AS clock
    ON CONFLICT (account_id) DO UPDATE
      SET day = excluded.day, running_token = excluded.running_token, running_until = excluded.running_until,
        failed_ms = CASE WHEN s.day = excluded.day THEN s.failed_ms ELSE 0 END
      WHERE (s.running_until IS NULL OR s.running_until < (SELECT service_now()))
        AND (s.day <> excluded.day OR s.failed_ms < ${FAILED_MS_PER_DAY})`;
  if (isTaken) return 'taken';
  const rows = await readRows<{ running: boolean }>(db)`
    SELECT coalesce(running_until >= service_now(),
      false) AS running FROM sql_statements WHERE account_id = ${accountId}`;
  return rows[0]?.running === true ? 'busy' : 'used_up';
}

/** Gives the turn back. @param failedMs what the statement took if it failed, 0 if it was charged */
export async function endSqlTurn(db: Queryable, accountId: string, token: string, failedMs: number): Promise<void> {
  await execute(db)`
    UPDATE sql_statements SET running_token = NULL, running_until = NULL, failed_ms = failed_ms + ${Math.ceil(failedMs)}
    WHERE account_id = ${accountId} AND running_token = ${token}`;
}
