import type { KeyScope } from '../../../schemas/api/account.ts';
import { mailTime } from '../../../shared/mail/mail-time.ts';
import type { Mail } from '../../../shared/mail/mailer.ts';
import { plainMail, wrapLines } from '../../../shared/mail/plain-mail.ts';
import { quotedName } from '../../../shared/mail/quoted-name.ts';
import { PERMISSION_WORDS } from '../account/permission-words.ts';

export interface NewKey {
  keyId: string;
  name: string;
  scopes: readonly KeyScope[];
  at: Date;
  /** The key that a program created it with; undefined: a person did, in the dashboard. */
  creatorKeyId: string | undefined;
}

/** Tells the owner of an account of a new API key. Cannot be switched off. */
export function newKeyMail(to: string, key: NewKey, dashboardUrl: string): Mail {
  const by =
    key.creatorKeyId === undefined ? 'in the dashboard' : `by a program that has the key fk_${key.creatorKeyId}…`;
  return plainMail(to, 'A new API key to your account', [
    wrapLines(
      `An API key ${quotedName(key.name)} to your account at ${new URL(dashboardUrl).host} was created at ${mailTime(key.at)}, ${by}. Its first characters are fk_${key.keyId}. Whoever has it may:`,
    ),
    key.scopes.map((scope) => `- ${PERMISSION_WORDS[scope]}`),
    ['If it was not you, revoke the key here, and look for other keys and sessions', 'that you do not know:'],
    [`${dashboardUrl}/dashboard/keys`],
  ]);
}
