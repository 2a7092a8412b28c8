import { redeliverBody } from '../../../schemas/delivery-log.ts';
import { parseMatchId } from '../../../shared/domain/identifiers.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { queueResends } from '../../../shared/stores/resends.ts';
import type { ResendChoice } from '../../../shared/stores/resends.ts';
import { invalidRequest, parseRequest, refuseFaults } from '../invalid-request.ts';
import { lockLivingMonitor } from '../living-monitor.ts';

/** In one request, so that the monitor's lock is held for a fraction of a second. */
const MOST_AT_ONCE = 5_000;
/** Ten a second: a receiver that was away is not met by all it missed at once. */
const PACE_MS = 100;
/** What a resend can be of: everything that is settled and was meant to be sent. */
const SETTLED = ['failed', 'skipped', 'delivered'] as const;

/**
 * Queues settled matches to be sent again, paced. Repeating it is harmless: what is queued is pending, and left alone.
 *
 * @throws ApiError not_found, invalid_request
 */
export function redeliver(
  pool: Pool,
  accountId: string,
  { id, body }: { id: string; body: unknown },
): Promise<{ queued: number; more: boolean }> {
  const choice = choiceOf(id, body);
  return inTransaction(pool, async (client) => {
    const { webhook_url } = await lockLivingMonitor(client, accountId, id);
    if (webhook_url === null) {
      throw invalidRequest([{ field: 'webhook_url', message: 'the monitor has no webhook to send to' }]);
    }
    const queued = await queueResends(client, id, choice, { limit: MOST_AT_ONCE, paceMs: PACE_MS });
    return { queued, more: queued === MOST_AT_ONCE };
  });
}

function choiceOf(monitorId: string, body: unknown): ResendChoice {
  const { match_ids, status, since } = parseRequest(redeliverBody, body ?? {}, 'body');
  const named = match_ids?.map(parseMatchId);
  refuseFaults(
    (named ?? []).flatMap((match, index) =>
      match?.monitorId === monitorId
        ? []
        : [{ field: `match_ids[${index}]`, message: 'must be the id of a match of this monitor' }],
    ),
  );
  return {
    seqs: named?.map((match) => match!.seq),
    statuses: status === undefined ? SETTLED : [status],
    since: since === undefined ? undefined : new Date(since),
  };
}
