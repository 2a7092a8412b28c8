import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { insertDigestMail } from '../../../shared/stores/digests/digest-mails.ts';
import { advanceDigests, takeDueDigests } from '../../../shared/stores/digests/due-digests.ts';
import type { DueDigest } from '../../../shared/stores/digests/due-digests.ts';
import { insertMonitorEvent } from '../../../shared/stores/events/monitor-events.ts';

/** Digests by whom they are for. */
export interface MadeDigests {
  webhook: number;
  mail: number;
  /** They had no matches. */
  nobody: number;
}

/**
 * Makes the digests of an account that are due, in one transaction: what they say is stored, and their ranges move on
 * to the last match of now. So each match is in one digest, whatever crashes and whoever else makes digests. Monitors
 * with a webhook get an event each, and all others share one mail. A digest without matches is not sent.
 *
 * After: the deliverer sends the events, and `mailDigests` the mails.
 *
 * @param deps.dashboardUrl without a trailing slash
 * @returns how many of each were made
 */
export async function makeDigests(
  { pool, dashboardUrl }: { pool: Pool; dashboardUrl: string },
  accountId: string,
): Promise<MadeDigests> {
  return inTransaction(pool, async (client) => {
    const due = await takeDueDigests(client, accountId);
    const withMatches = due.filter(({ count }) => count > 0);
    for (const digest of withMatches.filter(({ hasWebhook }) => hasWebhook)) {
      await insertMonitorEvent(client, eventOf(digest, dashboardUrl));
    }
    const mailed = withMatches.filter(({ hasWebhook }) => !hasWebhook);
    const sections = mailed.map(({ hasWebhook: _, ...section }) => section);
    // Another process may have stored a mail meanwhile: then these matches wait for the next one.
    const isStored = sections.length === 0 || (await insertDigestMail(client, accountId, sections));
    await advanceDigests(client, isStored ? due : due.filter((digest) => !mailed.includes(digest)));
    return {
      webhook: withMatches.length - mailed.length,
      mail: isStored ? mailed.length : 0,
      nobody: due.length - withMatches.length,
    };
  });
}

function eventOf(digest: DueDigest, dashboardUrl: string): Parameters<typeof insertMonitorEvent>[1] {
  const { monitorId, period, after, until, count } = digest;
  const url = `${dashboardUrl}/dashboard/monitors/${monitorId}`;
  return { monitorId, kind: 'monitor.digest', key: String(after), payload: { period, after, until, count, url } };
}
