import { mailTime } from '../../../shared/mail/mail-time.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail, wrapLines } from '../../../shared/mail/plain-mail.ts';

export interface DeletedAccount {
  at: Date;
  /** The key that a program deleted it with; undefined: a person did, in the dashboard. */
  keyId: string | undefined;
}

/** Tells the owner of an account that it was deleted. */
export function accountDeletedMail(to: string, { at, keyId }: DeletedAccount, dashboardUrl: string): Mail {
  const by = keyId === undefined ? 'in the dashboard' : `at the request of a program that has the API key fk_${keyId}…`;
  const somebodyElse = keyId === undefined ? 'somebody else read your mail' : 'somebody else had your key';
  return plainMail(to, 'Your account was deleted', [
    wrapLines(`Your account at ${new URL(dashboardUrl).host} was deleted at ${mailTime(at)}, ${by}.`),
    ['Its keys no longer work, its monitors are deleted, and this cannot be undone.'],
    wrapLines(`If it was not you, ${somebodyElse}: ask the operator of the service before you open another account.`),
  ]);
}
