import type { WebhookKind } from '../../../schemas/api/monitor.ts';
import type { Queryable } from '../../postgres/pool.ts';

export interface StoredAttempt {
  seq: number;
  attempt: number;
  started_at: Date;
  duration_ms: number;
  webhook_kind: WebhookKind;
  host: string;
  status: number;
  error: string | null;
  response_excerpt: string | null;
  delivery_status: 'pending' | 'delivered' | 'failed';
  next_attempt_at: Date | null;
}

/** An attempt, by its match's number and its own. */
export interface AttemptPosition {
  seq: number;
  attempt: number;
}

/** A monitor's attempts before a position: newest match first, of each the last attempt first. */
export async function readAttemptsBefore(
  db: Queryable,
  monitorId: string,
  page: { before: AttemptPosition; seq: number | undefined; limit: number },
): Promise<StoredAttempt[]> {
  const { rows } = await db.query<StoredAttempt>(
    `SELECT seq, attempt, started_at, duration_ms, webhook_kind, host, status, error, response_excerpt, delivery_status,
       next_attempt_at
     FROM delivery_attempts
     WHERE monitor_id = $1 AND (seq, attempt) < ($2, $3) AND ($4::bigint IS NULL OR seq = $4)
     ORDER BY seq DESC, attempt DESC
     LIMIT $5`,
    [monitorId, page.before.seq, page.before.attempt, page.seq ?? null, page.limit],
  );
  return rows;
}
