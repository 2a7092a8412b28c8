import { inTransaction } from '../../shared/postgres/pool.ts';
import { sqlState } from '../../shared/postgres/postgres-unavailable.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import {
  insertDigestMail,
  advanceDigests,
  listAccountsWithDueDigests,
  takeDueDigests,
} from '../../shared/notices/due-digests.ts';
import type { DueDigest } from '../../shared/notices/due-digests.ts';
import { insertMonitorEvent } from '../../shared/deliveries/event-deliveries.ts';
import type { Continuing } from './jobs.ts';
import type { BillerDeps } from './start-biller.ts';

const ACCOUNTS_PER_PAGE = 500;
/** SQLSTATE of a statement that took longer than its limit. */
const TOOK_TOO_LONG = '57014';

type DigestRoundDeps = Pick<BillerDeps, 'pool' | 'dashboardUrl' | 'metrics' | 'logger'> & Continuing;

/**
 * Makes the digests that are due, an account at a time. It costs one short statement when none is due. An account whose
 * statements take too long waits for the next round: the others must not wait for it.
 */
export async function makeDueDigests(deps: DigestRoundDeps): Promise<void> {
  const { pool, metrics, logger, mayContinue } = deps;
  let after: string | undefined = '';
  while (after !== undefined) {
    const accountIds: string[] = await listAccountsWithDueDigests(pool, after, ACCOUNTS_PER_PAGE);
    for (const accountId of accountIds) {
      if (!(await mayContinue())) return;
      try {
        count(metrics, await makeDigests(deps, accountId));
      } catch (error) {
        if (sqlState(error) !== TOOK_TOO_LONG) throw error;
        logger.warn({ err: error, accountId }, 'the digests of an account took too long; they are tried again');
      }
    }
    after = accountIds.length < ACCOUNTS_PER_PAGE ? undefined : accountIds.at(-1);
  }
}

function count({ digestsMade, monitorEvents }: Metrics, made: MadeDigests): void {
  for (const to of ['webhook', 'mail', 'nobody'] as const) if (made[to] > 0) digestsMade.inc({ to }, made[to]);
  if (made.webhook > 0) monitorEvents.inc({ type: 'monitor.digest', outcome: 'stored' }, made.webhook);
}

/** Digests by whom they are for. */
interface MadeDigests {
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
 * @returns how many of each were made
 */
export async function makeDigests(
  { pool, dashboardUrl }: Pick<BillerDeps, 'pool' | 'dashboardUrl'>,
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
