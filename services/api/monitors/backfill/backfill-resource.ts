import type { Backfill } from '../../../../schemas/api/monitors/backfill.ts';
import type { StoredBackfill } from '../../../../shared/stores/backfills/backfill-runs.ts';

/** A run in the form the API returns. */
export function backfillResource(run: StoredBackfill): Backfill {
  const { id, from, to, deliver, scannedTo, matches, delivered, credits } = run;
  const length = to.getTime() - from.getTime();
  // A run up to now may look a moment further, where the clocks of several machines differ.
  const scanned =
    scannedTo === null ? undefined : Math.min(Math.max(scannedTo.getTime(), from.getTime()), to.getTime());
  const share = scanned === undefined ? 0 : length === 0 ? 1 : (scanned - from.getTime()) / length;
  return {
    id,
    state: run.state === 'running' && run.cancelledAt !== null ? 'cancelling' : run.state,
    from: from.toISOString(),
    to: to.toISOString(),
    deliver,
    max_credits: run.maxCredits,
    scanned_to: scanned === undefined ? null : new Date(scanned).toISOString(),
    share: Math.floor(share * 10_000) / 10_000,
    matches,
    delivered,
    already_known: run.alreadyKnown,
    credits,
    started_at: run.startedAt.toISOString(),
    ended_at: run.endedAt?.toISOString() ?? null,
  };
}
