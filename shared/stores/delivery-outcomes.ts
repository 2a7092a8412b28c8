import type { WebhookKind } from '../../schemas/monitor.ts';
import { inTransaction } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';

/** So many matches given up in a row mark the monitor webhook_failing. */
const FAILURES_UNTIL_FAILING = 50;

export interface FinishedAttempt {
  monitorId: string;
  seq: number;
  leaseToken: string;
  webhookKind: WebhookKind;
  /** Queued again by its owner: a failure of it counts nowhere. */
  isResent: boolean;
  /** Host of the webhook URL only. */
  host: string;
  durationMs: number;
  /** 0: no answer. */
  httpStatus: number;
  error: string | null;
  responseExcerpt: string | null;
  deliveryStatus: 'pending' | 'delivered' | 'failed';
  /** Time until the next attempt; null unless pending. */
  delayMs: number | null;
}

export interface RecordedAttempt {
  attempt: number;
  startedAt: Date;
  nextAttemptAt: Date | null;
}

/** Another process holds or settled the match: this attempt counts for nothing. */
class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/**
 * Stores an attempt with everything that follows from it, in one transaction: the endpoint's health, the match, its lease's
 * end, the attempt's row; in the order of the service's locks. undefined, and nothing stored, when the lease is another's.
 */
export async function recordOutcome(pool: Pool, attempt: FinishedAttempt): Promise<RecordedAttempt | undefined> {
  try {
    return await inTransaction(pool, async (tx) => {
      if (attempt.deliveryStatus === 'delivered') await resetFailures(tx, attempt.monitorId);
      if (attempt.deliveryStatus === 'failed' && !attempt.isResent) await countFailure(tx, attempt.monitorId);
      const settled = await settleMatch(tx, attempt);
      if (!settled) throw new LeaseLost();
      return insertAttempt(tx, attempt, settled);
    });
  } catch (error) {
    if (error instanceof LeaseLost) return undefined;
    throw error;
  }
}

/** Writes only after failures, so that a healthy endpoint costs no write. webhook_failing stays until its owner acts. */
async function resetFailures(db: Queryable, monitorId: string): Promise<void> {
  await db.query({
    name: 'deliveries-reset-failures',
    text: 'UPDATE monitor_health SET failures = 0 WHERE monitor_id = $1 AND failures > 0',
    values: [monitorId],
  });
}

async function countFailure(db: Queryable, monitorId: string): Promise<void> {
  await db.query({
    name: 'deliveries-count-failure',
    text: `
      INSERT INTO monitor_health (monitor_id, failures, webhook_failing) VALUES ($1, 1, false)
      ON CONFLICT (monitor_id) DO UPDATE
        SET failures = monitor_health.failures + 1,
          webhook_failing = monitor_health.webhook_failing OR monitor_health.failures + 1 >= $2`,
    values: [monitorId, FAILURES_UNTIL_FAILING],
  });
}

async function settleMatch(
  db: Queryable,
  attempt: FinishedAttempt,
): Promise<{ attempt: number; nextAttemptAt: Date | null; at: Date } | undefined> {
  const { rows } = await db.query<{ attempt: number; nextAttemptAt: Date | null; at: Date }>({
    name: 'deliveries-settle-match',
    text: `
      WITH moment AS MATERIALIZED (SELECT service_now() AS at)
      UPDATE matches m
      SET attempt = m.attempt + 1, ladder_step = m.ladder_step + 1, delivery_status = $4,
        next_attempt_at = moment.at + $5::float8 * interval '1 millisecond',
        delivered_at = CASE WHEN $4 = 'delivered' THEN moment.at END,
        lease_token = NULL, lease_until = NULL
      FROM moment
      WHERE m.monitor_id = $1 AND m.seq = $2 AND m.lease_token = $3
      RETURNING m.attempt, m.next_attempt_at AS "nextAttemptAt", moment.at`,
    values: [attempt.monitorId, attempt.seq, attempt.leaseToken, attempt.deliveryStatus, attempt.delayMs],
  });
  return rows[0];
}

async function insertAttempt(
  db: Queryable,
  attempt: FinishedAttempt,
  settled: { attempt: number; nextAttemptAt: Date | null; at: Date },
): Promise<RecordedAttempt> {
  const startedAt = new Date(settled.at.getTime() - attempt.durationMs);
  await db.query({
    name: 'deliveries-insert-attempt',
    text: `
      INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, error,
        response_excerpt, delivery_status, next_attempt_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      attempt.monitorId,
      attempt.seq,
      settled.attempt,
      startedAt,
      attempt.durationMs,
      attempt.webhookKind,
      attempt.host,
      attempt.httpStatus,
      attempt.error,
      attempt.responseExcerpt,
      attempt.deliveryStatus,
      settled.nextAttemptAt,
    ],
  });
  return { attempt: settled.attempt, startedAt, nextAttemptAt: settled.nextAttemptAt };
}
