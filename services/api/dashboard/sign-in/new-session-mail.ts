import type { Mail } from '../../../../shared/mail/mailer.ts';
import { plainMail } from '../../../../shared/mail/plain-mail.ts';
import { browserInWords } from './browser-in-words.ts';

/** Tells the owner of an account of a session from a network that the account had none from. Cannot be switched off. */
export function newSessionMail(
  to: string,
  { network, userAgent, at }: { network: string; userAgent: string; at: Date },
  dashboardUrl: string,
): Mail {
  const minute = at.toISOString().slice(0, 16).replace('T', ' ');
  return plainMail(to, 'A new sign-in to your account', [
    [
      `Somebody signed in to the dashboard of your account at ${new URL(dashboardUrl).host}`,
      `from a network that was not seen before, at ${minute} UTC.`,
    ],
    [`Network: ${network}`, `Browser: ${browserInWords(userAgent)}`],
    [
      'If it was you, there is nothing to do. If it was not, somebody else reads your',
      'mail: secure your mailbox, then end the session here:',
    ],
    [`${dashboardUrl}/dashboard/account`],
  ]);
}
