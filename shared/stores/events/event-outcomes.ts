import { FAILURES_UNTIL_FAILING } from '../deliveries/delivery-outcomes.ts';
import { inTransaction } from '../../postgres/pool.ts';
import type { Pool, Queryable } from '../../postgres/pool.ts';
import { execute } from '../../postgres/sql.ts';

export interface FinishedEventAttempt {
  monitorId: string;
  seq: number;
  leaseToken: string;
  /** Where the attempt was sent. Not stored, because chat URLs are secrets. */
  webhookUrl: string;
  /** 0 when there was no answer. */
  httpStatus: number;
  error: string | null;
  deliveryStatus: 'pending' | 'delivered' | 'failed';
  /** Milliseconds until the next attempt; null unless pending. */
  delayMs: number | null;
}

interface SettledEvent {
  attempt: number;
  /** As of matches: the outcome at another URL says nothing about the health of the present one. */
  isOfPresentUrl: boolean;
}

/**
 * Stores the outcome of an attempt in one transaction: the health of the endpoint, in which an event counts as a match
 * does, then the state of the event and the end of its lease. An event that would be retried is skipped when its
 * monitor has no webhook any more, as a match is.
 *
 * @returns the number of attempts made; undefined, and nothing is stored, when the lease was lost to another process
 */
export async function recordEventOutcome(pool: Pool, attempt: FinishedEventAttempt): Promise<number | undefined> {
  return inTransaction(pool, async (tx) => {
    await lockHealth(tx, attempt);
    const { rows } = await tx.query<SettledEvent>({
      name: 'events-settle',
      text: `
        WITH leased AS (
          SELECT e.seq, coalesce(w.webhook_url = $7, false) AS is_present,
            $3::text = 'pending' AND (w.webhook_url IS NULL OR w.status = 'deleted') AS is_skipped
          FROM monitor_events e
          LEFT JOIN monitors w ON w.id = e.monitor_id
          WHERE e.seq = $1 AND e.lease_token = $2
          FOR UPDATE OF e
        )
        UPDATE monitor_events e
        SET attempt = e.attempt + 1, delivery_status = CASE WHEN leased.is_skipped THEN 'skipped' ELSE $3::text END,
          next_attempt_at = CASE WHEN NOT leased.is_skipped THEN clock.now + $4 * interval '1 millisecond' END,
          delivered_at = CASE WHEN $3::text = 'delivered' THEN clock.now END,
          last_attempt_at = clock.now, last_status = $5, last_error = $6,
          lease_token = NULL, lease_until = NULL
        FROM leased, (SELECT service_now() AS now) AS clock
        WHERE e.seq = leased.seq
        RETURNING e.attempt, leased.is_present AS "isOfPresentUrl"`,
      values: [
        attempt.seq,
        attempt.leaseToken,
        attempt.deliveryStatus,
        attempt.delayMs,
        attempt.httpStatus,
        attempt.error,
        attempt.webhookUrl,
      ],
    });
    if (rows[0]?.isOfPresentUrl) await storeHealth(tx, attempt);
    return rows[0]?.attempt;
  });
}

/** A healthy endpoint has no row, so that its deliveries cost no write. */
async function lockHealth(db: Queryable, { monitorId, seq, leaseToken, deliveryStatus }: FinishedEventAttempt) {
  if (deliveryStatus === 'pending') return;
  if (deliveryStatus === 'failed') {
    await execute(db)`
      INSERT INTO monitor_health (monitor_id)
      SELECT monitor_id FROM monitor_events WHERE seq = ${seq} AND lease_token = ${leaseToken}
      ON CONFLICT DO NOTHING`;
  }
  await execute(db)`SELECT FROM monitor_health WHERE monitor_id = ${monitorId} FOR UPDATE`;
}

/** webhook_failing stays set until the owner acts. */
async function storeHealth(db: Queryable, { monitorId, deliveryStatus }: FinishedEventAttempt): Promise<void> {
  if (deliveryStatus === 'delivered') {
    await execute(db)`UPDATE monitor_health SET failures = 0 WHERE monitor_id = ${monitorId} AND failures > 0`;
  }
  if (deliveryStatus === 'failed') {
    await execute(db)`
      UPDATE monitor_health SET failures = failures + 1,
        webhook_failing = webhook_failing OR failures + 1 >= ${FAILURES_UNTIL_FAILING}
      WHERE monitor_id = ${monitorId}`;
  }
}
