import type { DeliveryAttempt } from '../../schemas/messages/delivery-attempt.ts';
import { matchId } from '../rules/identifiers.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows, sql } from '../postgres/sql.ts';

type AttemptRow = Omit<DeliveryAttempt, 'v' | 'match_id' | 'started_at' | 'next_attempt_at'> & {
  started_at: Date;
  next_attempt_at: Date | null;
};

const ATTEMPTS = sql`SELECT monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, error,
  delivery_status, next_attempt_at FROM delivery_attempts`;

/**
 * Reads attempts that began more than `olderThanMs` ago and are not yet acknowledged on monitor.deliveries, oldest
 * first.
 */
export async function readUnpublishedAttempts(
  db: Queryable,
  olderThanMs: number,
  limit: number,
): Promise<DeliveryAttempt[]> {
  const rows = await readRows<AttemptRow>(db)`
    ${ATTEMPTS}
    WHERE published_at IS NULL AND started_at < (SELECT service_now()) - ${olderThanMs} * interval '1 millisecond'
    ORDER BY started_at
    LIMIT ${limit}`;
  return rows.map(toAttempt);
}

/** Of all monitors, in the order of (monitor, seq, attempt). */
export async function readAttemptsAfter(
  db: Queryable,
  after: { monitorId: string; seq: number; attempt: number },
  limit: number,
): Promise<DeliveryAttempt[]> {
  const rows = await readRows<AttemptRow>(db)`
    ${ATTEMPTS}
    WHERE (monitor_id, seq, attempt) > (${after.monitorId}, ${after.seq}, ${after.attempt})
    ORDER BY monitor_id, seq, attempt
    LIMIT ${limit}`;
  return rows.map(toAttempt);
}

function toAttempt(row: AttemptRow): DeliveryAttempt {
  return {
    ...row,
    v: 1,
    match_id: matchId(row.monitor_id, row.seq),
    started_at: row.started_at.toISOString(),
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  };
}

/**
 * Marks attempts as acknowledged on monitor.deliveries. Does not wait for the disk, nor for a standby: a mark that is
 * lost in a crash costs one more publication, which consumers recognise. A transaction that runs it would not wait
 * either, so it must run in none.
 */
export async function markAttemptsPublished(
  db: Queryable,
  attempts: readonly Pick<DeliveryAttempt, 'monitor_id' | 'seq' | 'attempt'>[],
): Promise<void> {
  await execute(db, 'deliveries-mark-published')`
    WITH async_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    UPDATE delivery_attempts a SET published_at = (SELECT service_now())
    FROM async_commit, unnest((SELECT ${attempts.map((attempt) => attempt.monitor_id)}::text[]),
      (SELECT ${attempts.map((attempt) => attempt.seq)}::bigint[]),
      (SELECT ${attempts.map((attempt) => attempt.attempt)}::integer[]))
      AS published (monitor_id, seq, attempt)
    WHERE a.monitor_id = published.monitor_id AND a.seq = published.seq AND a.attempt = published.attempt`;
}
