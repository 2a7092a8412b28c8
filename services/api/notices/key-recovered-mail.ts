import { mailTime } from '../../../shared/mail/mail-time.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail, wrapLines } from '../../../shared/mail/plain-mail.ts';

/** Tells the owner of an account that a code or link of a mail gave a new key to it. */
export function keyRecoveredMail(to: string, { keyId, at }: { keyId: string; at: Date }, dashboardUrl: string): Mail {
  return plainMail(to, 'A new API key to your account', [
    wrapLines(
      `A new API key to your account at ${new URL(dashboardUrl).host} was created at ${mailTime(at)}, with a code or link that was mailed to you.`,
    ),
    [`The first characters of the key are fk_${keyId}. Your other keys still work.`],
    wrapLines(
      `If it was not you, somebody else reads your mail: secure your mailbox, and revoke this key here, or with DELETE /v1/account/keys/${keyId}:`,
    ),
    [`${dashboardUrl}/dashboard/keys`],
  ]);
}
