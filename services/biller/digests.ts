import { insertMonitorEvent } from '../../shared/deliveries/event-deliveries.ts';
import { isVisible, linkTarget } from '../../shared/deliveries/rules/chat-text.ts';
import type { Mail } from '../../shared/mail/mailer.ts';
import { mailTime, plainMail, quotedName, wrapLines } from '../../shared/mail/plain-mail.ts';
import type { StoredMatch } from '../../shared/matches/rules/match-resource.ts';
import {
  advanceDigests,
  insertDigestMail,
  listAccountsWithDueDigests,
  readDigestMatches,
  readMonitorNames,
  takeDueDigests,
} from '../../shared/notices/due-digests.ts';
import type { DigestSection, DueDigest } from '../../shared/notices/due-digests.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { sqlState } from '../../shared/postgres/postgres-unavailable.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Continuing } from './jobs.ts';
import { sendMails } from './mail-outbox.ts';
import type { MailingDeps } from './mail-outbox.ts';
import type { BillerDeps } from './start-biller.ts';

const ACCOUNTS_PER_PAGE = 500;
/** SQLSTATE of a statement that took longer than its limit. */
const TOOK_TOO_LONG = '57014';

type DigestJobDeps = Pick<BillerDeps, 'pool' | 'dashboardUrl' | 'metrics' | 'logger'> & Continuing;

/**
 * Makes the digests that are due, an account at a time. It costs one short statement when none is due. An account whose
 * statements take too long waits for the next run: the others must not wait for it.
 */
export async function makeDueDigests(deps: DigestJobDeps): Promise<void> {
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
        logger.warn({ err: error, accountId }, 'the digests of an account took too long; they will be retried');
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

/** While a mail waits, further matches of the account wait for the next one. */
const EXPIRY_SECONDS = 3 * 24 * 3_600;
/** Matches that a mail lists, of all its monitors together. */
const LISTED_MATCHES = 100;

/** Mails digests that wait, as `sendMails`, with their matches as they are now. `makeDigests` stored them. */
export function mailDigests(deps: MailingDeps, signal: AbortSignal): Promise<number> {
  const { pool, dashboardUrl } = deps;
  return sendMails<DigestSection[]>(
    deps,
    {
      outbox: 'digest_mails',
      expirySeconds: EXPIRY_SECONDS,
      kindOf: () => 'digest',
      async compose({ content, madeAt }, to) {
        const digests = await readDigests(pool, content);
        return digests.length === 0 ? undefined : digestMail(digests, { to, madeAt, dashboardUrl });
      },
    },
    signal,
  );
}

/** Without those of monitors that are deleted meanwhile. */
async function readDigests(pool: Pool, sections: readonly DigestSection[]): Promise<DigestOfMonitor[]> {
  const names = await readMonitorNames(
    pool,
    sections.map(({ monitorId }) => monitorId),
  );
  const kept = sections.filter(({ monitorId }) => names.has(monitorId));
  const digests = new Map<string, DigestOfMonitor>();
  let left = LISTED_MATCHES;
  // The smallest first: what they leave of an equal share goes to the others. Each lists at least one match.
  for (const section of kept.toSorted((a, b) => a.count - b.count)) {
    const share = Math.max(1, Math.floor(left / (kept.length - digests.size)));
    const matches = await readDigestMatches(pool, section, share);
    left -= matches.length;
    digests.set(section.monitorId, { ...section, name: names.get(section.monitorId)!, matches });
  }
  return kept.map(({ monitorId }) => digests.get(monitorId)!);
}

/** What a mail says of one monitor. */
interface DigestOfMonitor extends DigestSection {
  name: string;
  /** The first ones of the range, as they are now. */
  matches: StoredMatch[];
}

/** The mail of digests: for each monitor its matches, the page with all of them, and how to get them one by one. */
function digestMail(
  digests: readonly DigestOfMonitor[],
  { to, madeAt, dashboardUrl }: { to: string; madeAt: Date; dashboardUrl: string },
): Mail {
  const pages = `${dashboardUrl}/dashboard/monitors`;
  const [only] = digests.length === 1 ? digests : [];
  const settings = only === undefined ? pages : `${pages}/${only.monitorId}/webhook`;
  const total = digests.reduce((sum, { count }) => sum + count, 0);
  const subject = only === undefined ? `${matchesOf(total)} in ${digests.length} monitors` : matchesOf(total);
  const paragraphs = [
    wrapLines(`New matches of your ${only === undefined ? 'monitors' : 'monitor'} as of ${mailTime(madeAt)}:`),
    ...digests.flatMap((digest) => section(digest, `${pages}/${digest.monitorId}`)),
    wrapLines('You get this mail because the setting “digest” of the monitor is on. Sign in to change it:'),
    [settings],
  ];
  return { ...plainMail(to, subject, paragraphs), unsubscribeUrl: settings };
}

function section({ name, period, count, matches }: DigestOfMonitor, page: string): string[][] {
  return [
    wrapLines(`${quotedName(name)} (${period}): ${matchesOf(count)}.`),
    matches.flatMap(linesOf),
    [restOf(count - matches.length)],
    [page],
  ];
}

/** What stands before the link to a monitor's page. @param more matches that the mail does not list */
export function restOf(more: number): string {
  return more > 0 ? `and ${more.toLocaleString('en')} more on the page of the monitor:` : 'View them all:';
}

export function linesOf(match: StoredMatch): string[] {
  const { kind, title, body, subreddit, matchedTerms, permalink } = match;
  const text = isVisible(title) ? title : body;
  const what = kind === 'comment' && isVisible(title) ? 'comment on ' : '';
  const line = `- ${what}${quotedName(text)} in ${quotedName(subreddit)}, keyword ${quotedName(matchedTerms[0] ?? '')}`;
  const link = linkTarget(permalink, (piece) => piece.length);
  return link === undefined ? [line] : [line, link];
}

export function matchesOf(count: number): string {
  return count === 1 ? '1 new match' : `${count.toLocaleString('en')} new matches`;
}
