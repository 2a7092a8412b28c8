import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail } from '../../../shared/mail/plain-mail.ts';

/** Tells the owner of an account that it was deleted. */
export function accountDeletedMail(to: string, appUrl: string): Mail {
  return plainMail(to, 'Your account was deleted', [
    [
      `Your account at ${new URL(appUrl).host} was deleted just now, at the request of a`,
      'program that has one of its API keys.',
    ],
    ['Its keys no longer work, its monitors are deleted, and this cannot be undone.'],
    [
      'If it was not you, somebody else had your key: ask the operator of the',
      'service before you open another account.',
    ],
  ]);
}
