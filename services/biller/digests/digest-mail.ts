import { isVisible, linkTarget } from '../../../shared/domain/webhooks/chat-text.ts';
import type { StoredMatch } from '../../../shared/domain/match-resource.ts';
import { mailTime } from '../../../shared/mail/mail-time.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail, wrapLines } from '../../../shared/mail/plain-mail.ts';
import { quotedName } from '../../../shared/mail/quoted-name.ts';
import type { DigestSection } from '../../../shared/stores/digests/digest-mails.ts';

/** What a mail says of one monitor. */
export interface DigestOfMonitor extends DigestSection {
  name: string;
  /** The first ones of the range, as they are now. */
  matches: StoredMatch[];
}

/** The mail of digests: for each monitor its matches, the page with all of them, and how to get them one by one. */
export function digestMail(
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
