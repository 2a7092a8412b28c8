import { isVisible, linkTarget } from '../../shared/deliveries/rules/chat-text.ts';
import type { StoredMatch } from '../../shared/matches/rules/match-resource.ts';
import type { Mail } from '../../shared/mail/mailer.ts';
import { mailTime, plainMail, quotedName, wrapLines } from '../../shared/mail/plain-mail.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { readMonitorNames, readDigestMatches } from '../../shared/notices/due-digests.ts';
import type { DigestSection } from '../../shared/notices/due-digests.ts';
import { sendMails } from './mail-outbox.ts';
import type { MailingDeps } from './mail-outbox.ts';

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
  const digests = new Map<string, DigestOfMonitor>();
  let left = LISTED_MATCHES;
  // The smallest first: what they leave of an equal share goes to the others. Each has at least one place.
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
