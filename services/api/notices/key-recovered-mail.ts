import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail } from '../../../shared/mail/plain-mail.ts';

/** Tells the owner of an account that a code or link of a mail gave a new key to it. */
export function keyRecoveredMail(to: string, keyId: string, appUrl: string): Mail {
  return plainMail(to, 'A new API key to your account', [
    [
      `A new API key to your account at ${new URL(appUrl).host} was created just now,`,
      'with a code or link that was mailed to you.',
    ],
    [`The first characters of the key are fk_${keyId}. Your other keys still work.`],
    [
      'If it was not you, somebody else reads your mail: revoke this key with',
      `DELETE /v1/account/keys/${keyId}, or ask the operator of the service.`,
    ],
  ]);
}
