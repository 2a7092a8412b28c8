import type { DeliveryAttempt, RecordedMatch } from '../../../schemas/messages/monitor-match.ts';

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

type Outcome = Pick<DeliveryAttempt, 'status' | 'error' | 'delivery_status'>;

export const SUCCESS: Outcome = { status: 204, error: null, delivery_status: 'delivered' };

/** An attempt to deliver a match. */
export function attemptOf(
  match: Pick<RecordedMatch, 'monitor_id' | 'seq' | 'match_id'>,
  made: Outcome & { host: string; attempt: number; startedAt: number; durationMs: number },
): DeliveryAttempt {
  const { startedAt, durationMs, ...columns } = made;
  return {
    v: 1,
    monitor_id: match.monitor_id,
    seq: match.seq,
    match_id: match.match_id,
    started_at: iso(startedAt),
    duration_ms: durationMs,
    webhook_kind: 'generic',
    next_attempt_at: null,
    ...columns,
  };
}

export function iso(time: number): string {
  return new Date(time).toISOString();
}
