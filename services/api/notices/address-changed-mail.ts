import { mailTime } from '../../../shared/mail/mail-time.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail, wrapLines } from '../../../shared/mail/plain-mail.ts';

export interface ChangedAddress {
  oldEmail: string;
  newEmail: string;
  at: Date;
}

/** Tells the old address of an account that it was changed. Cannot be switched off. */
export function addressLeftMail({ oldEmail, newEmail, at }: ChangedAddress, dashboardUrl: string): Mail {
  return plainMail(oldEmail, 'The address of your account was changed', [
    wrapLines(
      `The address of your account at ${new URL(dashboardUrl).host} was changed at ${mailTime(at)}, with the codes that were mailed to this address and to the new one. The new address is:`,
    ),
    [`- ${newEmail}`],
    [
      'Codes and notices are mailed there from now on. Other sessions of the',
      'dashboard were ended. API keys still work.',
    ],
    ['If it was not you, ask the operator of the service at once: this address no', 'longer opens the account.'],
  ]);
}

/** Tells the new address of an account the same. */
export function addressTakenMail({ oldEmail, newEmail, at }: ChangedAddress, dashboardUrl: string): Mail {
  return plainMail(newEmail, 'This is the address of your account now', [
    wrapLines(
      `The address of your account at ${new URL(dashboardUrl).host} was changed to this one at ${mailTime(at)}. Before, it was:`,
    ),
    [`- ${oldEmail}`],
    ['Codes and notices are mailed here from now on. Sign in with this address:'],
    [`${dashboardUrl}/dashboard`],
  ]);
}
