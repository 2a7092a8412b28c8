import type { Mail } from '../../shared/mail/mailer.ts';
import { mailTime, plainMail, quotedName, wrapLines } from '../../shared/mail/plain-mail.ts';
import type { StoredMatch } from '../../shared/matches/rules/match-resource.ts';
import { readDigestMatches } from '../../shared/notices/due-digests.ts';
import { makeMatchMails, readMailedMonitor, stopMatchMails, unsubscribeUrl } from '../../shared/notices/match-mails.ts';
import type { MatchMailRange } from '../../shared/notices/match-mails.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { SecretBox } from '../../shared/rules/secret-box.ts';
import { linesOf, matchesOf, restOf } from './digests.ts';
import { sendMails } from './mail-outbox.ts';
import type { MailingDeps } from './mail-outbox.ts';

export interface MatchMailDeps extends MailingDeps {
  /** Seals the links that end the mails. */
  secretBox: Pick<SecretBox, 'seal'>;
}

/** Monitors whose mails are made by a statement: it counts what each has recorded in days at most. */
const MADE_AT_ONCE = 100;
const LISTED_MATCHES = 20;
/** A match is kept for so long; while the mail server is unavailable, none is dropped sooner. */
const EXPIRY_SECONDS = 30 * 24 * 3_600;

const HOW_OFTEN =
  'The first match is mailed immediately, then at most one mail comes every five minutes, and at most five of all your monitors together. To stop those of this monitor:';

/**
 * Makes and sends mails about new matches, as `sendMails`. Only the settling of a mail that was sent moves its range
 * on, so a crash in between repeats this mail.
 *
 * @returns how many mails were made or leased; more may be due when it is not 0
 */
export async function mailNewMatches(deps: MatchMailDeps, signal: AbortSignal): Promise<number> {
  const { pool, dashboardUrl, secretBox } = deps;
  const dashboard = `${dashboardUrl}/dashboard`;
  const made = await inTransaction(pool, (client) => makeMatchMails(client, MADE_AT_ONCE));
  const leased = await sendMails<MatchMailRange>(
    deps,
    {
      outbox: 'match_mails',
      expirySeconds: EXPIRY_SECONDS,
      kindOf: () => 'match',
      async compose({ content: range, madeAt }, to) {
        const { monitorId } = range;
        const monitor = await readMailedMonitor(pool, monitorId);
        if (monitor === undefined) return undefined;
        const matches = await readDigestMatches(pool, range, LISTED_MATCHES);
        const stopUrl = unsubscribeUrl(dashboard, secretBox, monitorId);
        return matchMail({ ...range, ...monitor, matches }, { to, madeAt, dashboard, stopUrl });
      },
      onBounce: ({ content: { monitorId } }) => stopMatchMails(pool, monitorId, 'bounced'),
    },
    signal,
  );
  return made + leased;
}

type MailedMatches = MatchMailRange & { name: string; matches: StoredMatch[] };

function matchMail(
  { monitorId, name, count, matches }: MailedMatches,
  { to, madeAt, dashboard, stopUrl }: { to: string; madeAt: Date; dashboard: string; stopUrl: string },
): Mail {
  const what = `${matchesOf(count)} of ${quotedName(name)}`;
  const paragraphs = [
    wrapLines(`${what} as of ${mailTime(madeAt)}:`),
    matches.flatMap(linesOf),
    [restOf(count - matches.length)],
    [`${dashboard}/monitors/${monitorId}`],
    wrapLines(HOW_OFTEN),
    [stopUrl],
  ];
  return { ...plainMail(to, what, paragraphs), unsubscribeUrl: stopUrl, isOneClick: true };
}
