import { isVisible, linkTarget } from '../../../shared/domain/webhooks/chat-text.ts';
import type { StoredMatch } from '../../../shared/domain/match-resource.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { mailTime, plainMail, quotedName, wrapLines } from '../../../shared/mail/plain-mail.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { readMonitorNames, readDigestMatches } from '../../../shared/stores/digests/due-digests.ts';
import type { DigestSection } from '../../../shared/stores/digests/due-digests.ts';
import { sendMails } from '../mail-outbox.ts';
import type { MailingDeps } from '../mail-outbox.ts';

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
      async compose({ says, madeAt }, to) {
        const digests = await readDigests(pool, says);
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
  const shares = shareOut(
    LISTED_MATCHES,
    kept.map(({ count }) => count),
  );
  const digests: DigestOfMonitor[] = [];
  for (const [index, section] of kept.entries()) {
    const matches = await readDigestMatches(pool, section, shares[index]!);
    digests.push({ ...section, name: names.get(section.monitorId)!, matches });
  }
  return digests;
}

/**
 * Shares `total` places out among those who want some: each gets what it wants or an equal share, and what the modest
 * ones leave goes to the others. Everybody gets at least one place, even if there are more of them than places.
 *
 * @param wanted at least 1 each
 * @returns places in the order of `wanted`
 */
function shareOut(total: number, wanted: readonly number[]): number[] {
  const shares = wanted.map(() => 1);
  let left = total;
  const modestFirst = wanted.map((want, index) => ({ want, index })).sort((a, b) => a.want - b.want);
  for (const [position, { want, index }] of modestFirst.entries()) {
    const share = Math.floor(left / (modestFirst.length - position));
    shares[index] = Math.max(1, Math.min(want, share));
    left = Math.max(0, left - shares[index]);
  }
  return shares;
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
  const settings = only === undefined ? pages : `${pages}/${only.monitorId}/edit`;
  const total = digests.reduce((sum, { count }) => sum + count, 0);
  const subject = only === undefined ? `${matchesOf(total)} of ${digests.length} monitors` : matchesOf(total);
  const paragraphs = [
    wrapLines(`What your ${only === undefined ? 'monitors' : 'monitor'} found by ${mailTime(madeAt)}:`),
    ...digests.flatMap((digest) => section(digest, `${pages}/${digest.monitorId}`)),
    wrapLines('You get these mails because of the setting “digest” of the monitor. Sign in to change it:'),
    [settings],
  ];
  return { ...plainMail(to, subject, paragraphs), unsubscribeUrl: settings };
}

function section({ name, period, count, matches }: DigestOfMonitor, page: string): string[][] {
  const more = count - matches.length;
  const whole = more > 0 ? `and ${more.toLocaleString('en')} more, on the page of the monitor:` : 'All of them:';
  return [
    wrapLines(`${quotedName(name)} (${period}): ${matchesOf(count)}.`),
    matches.flatMap(linesOf),
    [whole],
    [page],
  ];
}

function linesOf(match: StoredMatch): string[] {
  const { kind, title, body, subreddit, matchedTerms, permalink } = match;
  const text = isVisible(title) ? title : body;
  const what = kind === 'comment' && isVisible(title) ? 'comment on ' : '';
  const line = `- ${what}${quotedName(text)} in ${quotedName(subreddit)}, keyword ${quotedName(matchedTerms[0] ?? '')}`;
  const link = linkTarget(permalink, (piece) => piece.length);
  return link === undefined ? [line] : [line, link];
}

function matchesOf(count: number): string {
  return count === 1 ? '1 new match' : `${count.toLocaleString('en')} new matches`;
}
