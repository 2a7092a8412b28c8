import { mailTime } from '../../../shared/mail/mail-time.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail, wrapLines } from '../../../shared/mail/plain-mail.ts';
import { browserInWords } from '../dashboard/sign-in/browser-in-words.ts';

export interface NewSession {
  /** The /24 or /64 of the sign-in. */
  network: string;
  userAgent: string;
  at: Date;
}

/** Tells the owner of an account of a session from a network that the account had none from. */
export function newSessionMail(to: string, { network, userAgent, at }: NewSession, dashboardUrl: string): Mail {
  return plainMail(to, 'A new sign-in to your account', [
    wrapLines(
      `Somebody signed in to the dashboard of your account at ${new URL(dashboardUrl).host} from a network that was not seen before, at ${mailTime(at)}.`,
    ),
    [`Network: ${network}`, `Browser: ${browserInWords(userAgent)}`],
    wrapLines(
      'If it was you, there is nothing to do. If it was not, somebody else reads your mail: secure your mailbox, then end the session here:',
    ),
    [`${dashboardUrl}/dashboard/account`],
  ]);
}
