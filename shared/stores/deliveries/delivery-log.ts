import type { WebhookKind } from '../../../schemas/api/monitor.ts';
import type { Queryable } from '../../postgres/pool.ts';

export interface StoredAttempt {
  seq: number;
  attempt: number;
  startedAt: Date;
  durationMs: number;
  webhookKind: WebhookKind;
  host: string;
  status: number;
  error: string | null;
  responseExcerpt: string | null;
  deliveryStatus: 'pending' | 'delivered' | 'failed';
  nextAttemptAt: Date | null;
}

/** The position of an attempt: the seq of its match and its own number. */
export interface AttemptPosition {
  seq: number;
  attempt: number;
}

/** Reads a monitor's attempts before a position: newest match first, and the last attempt of each match first. */
export async function readAttemptsBefore(
  db: Queryable,
  monitorId: string,
  page: { before: AttemptPosition; seq: number | undefined; limit: number },
): Promise<StoredAttempt[]> {
  const { rows } = await db.query<StoredAttempt>(
    `SELECT seq, attempt, started_at AS "startedAt", duration_ms AS "durationMs", webhook_kind AS "webhookKind", host,
       status, error, response_excerpt AS "responseExcerpt", delivery_status AS "deliveryStatus",
       next_attempt_at AS "nextAttemptAt"
     FROM delivery_attempts
     WHERE monitor_id = $1 AND (seq, attempt) < ($2, $3) AND ($4::bigint IS NULL OR seq = $4)
     ORDER BY seq DESC, attempt DESC
     LIMIT $5`,
    [monitorId, page.before.seq, page.before.attempt, page.seq ?? null, page.limit],
  );
  return rows;
}
