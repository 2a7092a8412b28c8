import { FAILURES_UNTIL_FAILING } from '../deliveries/delivery-outcomes.ts';
import { inTransaction } from '../../postgres/pool.ts';
import type { Pool, Queryable } from '../../postgres/pool.ts';

export interface FinishedEventAttempt {
  monitorId: string;
  seq: number;
  leaseToken: string;
  /** 0 when there was no answer. */
  httpStatus: number;
  error: string | null;
  deliveryStatus: 'pending' | 'delivered' | 'failed';
  /** Milliseconds until the next attempt; null unless pending. */
  delayMs: number | null;
}

/**
 * Stores the outcome of an attempt in one transaction: the health of the endpoint, in which an event counts as a match
 * does, then the state of the event and the end of its lease.
 *
 * @returns the number of attempts made; undefined, and nothing is stored, when the lease was lost to another process
 */
export async function recordEventOutcome(pool: Pool, attempt: FinishedEventAttempt): Promise<number | undefined> {
  return inTransaction(pool, async (tx) => {
    await lockHealth(tx, attempt);
    const { rows } = await tx.query<{ attempt: number }>({
      name: 'events-settle',
      text: `
        UPDATE monitor_events
        SET attempt = attempt + 1, delivery_status = $3,
          next_attempt_at = clock.now + $4 * interval '1 millisecond',
          delivered_at = CASE WHEN $3 = 'delivered' THEN clock.now END,
          last_attempt_at = clock.now, last_status = $5, last_error = $6,
          lease_token = NULL, lease_until = NULL
        FROM (SELECT service_now() AS now) AS clock
        WHERE seq = $1 AND lease_token = $2
        RETURNING attempt`,
      values: [
        attempt.seq,
        attempt.leaseToken,
        attempt.deliveryStatus,
        attempt.delayMs,
        attempt.httpStatus,
        attempt.error,
      ],
    });
    if (rows[0]) await storeHealth(tx, attempt);
    return rows[0]?.attempt;
  });
}

/** A healthy endpoint has no row, so that its deliveries cost no write. */
async function lockHealth(db: Queryable, { monitorId, seq, leaseToken, deliveryStatus }: FinishedEventAttempt) {
  if (deliveryStatus === 'pending') return;
  if (deliveryStatus === 'failed') {
    await db.query(
      `INSERT INTO monitor_health (monitor_id)
       SELECT monitor_id FROM monitor_events WHERE seq = $1 AND lease_token = $2
       ON CONFLICT DO NOTHING`,
      [seq, leaseToken],
    );
  }
  await db.query('SELECT FROM monitor_health WHERE monitor_id = $1 FOR UPDATE', [monitorId]);
}

/** webhook_failing stays set until the owner acts. */
async function storeHealth(db: Queryable, { monitorId, deliveryStatus }: FinishedEventAttempt): Promise<void> {
  if (deliveryStatus === 'delivered') {
    await db.query('UPDATE monitor_health SET failures = 0 WHERE monitor_id = $1 AND failures > 0', [monitorId]);
  }
  if (deliveryStatus === 'failed') {
    await db.query(
      `UPDATE monitor_health SET failures = failures + 1, webhook_failing = webhook_failing OR failures + 1 >= $2
       WHERE monitor_id = $1`,
      [monitorId, FAILURES_UNTIL_FAILING],
    );
  }
}
