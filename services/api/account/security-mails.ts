import type { KeyScope } from '../../../schemas/api/account.ts';
import { MailError } from '../../../shared/mail/mailer.ts';
import type { Mail, Mailer } from '../../../shared/mail/mailer.ts';
import { mailTime, plainMail, quotedName, wrapLines } from '../../../shared/mail/plain-mail.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { PERMISSION_WORDS } from '../admission/caller.ts';

/*
 * Mails that tell the owner of an account what was done with it. They cannot be switched off, as the biller's notices
 * can. They hold no key and no code, and quote names that people or programs chose (`quotedName`), so that none becomes
 * a link.
 */

/** Sentences are wrapped; lists of lines stay as they are. */
function mail(to: string, subject: string, parts: readonly (string | readonly string[])[]): Mail {
  return plainMail(
    to,
    subject,
    parts.map((part) => (typeof part === 'string' ? wrapLines(part) : part)),
  );
}

const accountAt = (dashboardUrl: string): string => `your account at ${new URL(dashboardUrl).host}`;

/** The account was deleted: by a program with a key, or, without one, by a person in the dashboard. */
export function accountDeletedMail(
  to: string,
  { at, keyId }: { at: Date; keyId: string | undefined },
  dashboardUrl: string,
): Mail {
  const by = keyId === undefined ? 'in the dashboard' : `by a request with the API key fk_${keyId}…`;
  const somebodyElse = keyId === undefined ? 'someone else can read your mail' : 'someone else has your key';
  return mail(to, 'Your account was deleted', [
    `Your account at ${new URL(dashboardUrl).host} was deleted at ${mailTime(at)}, ${by}.`,
    ['Its keys no longer work, its monitors are deleted, and this cannot be undone.'],
    `If this was not you, ${somebodyElse}. Contact the operator of the service before you open another account.`,
  ]);
}

interface ChangedAddress {
  oldEmail: string;
  newEmail: string;
  at: Date;
}

export function addressLeftMail({ oldEmail, newEmail, at }: ChangedAddress, dashboardUrl: string): Mail {
  return mail(oldEmail, 'The address of your account was changed', [
    `The address of ${accountAt(dashboardUrl)} was changed at ${mailTime(at)}, using the codes mailed to this address and to the new one. The new address is:`,
    [`- ${newEmail}`],
    'From now on, codes and notices are sent there. All other dashboard sessions were signed out. API keys still work.',
    'If this was not you, contact the operator of the service immediately: you can no longer sign in with this address.',
  ]);
}

export function addressTakenMail({ oldEmail, newEmail, at }: ChangedAddress, dashboardUrl: string): Mail {
  return mail(newEmail, 'This is now the address of your account', [
    `The address of ${accountAt(dashboardUrl)} was changed to this one at ${mailTime(at)}. The previous address was:`,
    [`- ${oldEmail}`],
    'From now on, codes and notices are sent here. Sign in with this address:',
    [`${dashboardUrl}/dashboard`],
  ]);
}

export function keyRecoveredMail(to: string, { keyId, at }: { keyId: string; at: Date }, dashboardUrl: string): Mail {
  return mail(to, 'A new API key for your account', [
    `A new API key for ${accountAt(dashboardUrl)} was created at ${mailTime(at)}, using a code or link that was mailed to you.`,
    [`The key starts with fk_${keyId}. Your other keys still work.`],
    `If this was not you, someone else can read your mail. Secure your mailbox, and revoke this key with DELETE /v1/account/keys/${keyId} or here:`,
    [`${dashboardUrl}/dashboard/keys`],
  ]);
}

export interface NewKey {
  keyId: string;
  name: string;
  scopes: readonly KeyScope[];
  at: Date;
  /** The key that a program created it with; undefined: a person did, in the dashboard. */
  creatorKeyId: string | undefined;
}

export function newKeyMail(to: string, { keyId, name, scopes, at, creatorKeyId }: NewKey, dashboardUrl: string): Mail {
  const by = creatorKeyId === undefined ? 'in the dashboard' : `by a request with the key fk_${creatorKeyId}…`;
  return mail(to, 'A new API key for your account', [
    `An API key ${quotedName(name)} for ${accountAt(dashboardUrl)} was created at ${mailTime(at)}, ${by}. It starts with fk_${keyId}. Anyone who has it can:`,
    scopes.map((scope) => `- ${PERMISSION_WORDS[scope]}`),
    'If this was not you, revoke the key here, and check for other keys and sessions that you do not recognize:',
    [`${dashboardUrl}/dashboard/keys`],
  ]);
}

export interface NewConnectedApp {
  /** As the program calls itself; undefined when it gave no name. */
  name: string | undefined;
  /** Where it sends its users back to. */
  host: string;
  permissions: readonly string[];
  at: Date;
}

export function newConnectedAppMail(
  to: string,
  { name, host, permissions, at }: NewConnectedApp,
  dashboardUrl: string,
): Mail {
  const program = name === undefined ? 'An app without a name' : `An app that calls itself ${quotedName(name)}`;
  return mail(to, 'An app was connected to your account', [
    `${program}, from ${quotedName(host)}, was allowed to use ${accountAt(dashboardUrl)} at ${mailTime(at)}, by someone who entered a code that was mailed to you. It can:`,
    permissions.map((words) => `- ${words}`),
    'If this was not you, someone else can read your mail. Secure your mailbox, and disconnect the app here:',
    [`${dashboardUrl}/dashboard/programs`],
  ]);
}

/** Somebody signed in from a /24 or /64 that the account had no session from. */
export function newSessionMail(
  to: string,
  { network, userAgent, at }: { network: string; userAgent: string; at: Date },
  dashboardUrl: string,
): Mail {
  return mail(to, 'New sign-in to your account', [
    `Someone signed in to the dashboard of ${accountAt(dashboardUrl)} from a new network at ${mailTime(at)}.`,
    [`Network: ${network}`, `Browser: ${browserInWords(userAgent)}`],
    'If this was you, you do not need to do anything. If it was not, someone else can read your mail. Secure your mailbox, then end the session here:',
    [`${dashboardUrl}/dashboard/account`],
  ]);
}

/** The order matters: browsers name others in their User-Agent to be served like them. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A browser by its User-Agent header, for people: "Firefox on Linux". It is what the browser says of itself. */
export function browserInWords(userAgent: string): string {
  const nameIn = (names: typeof BROWSERS) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = nameIn(SYSTEMS);
  return `${nameIn(BROWSERS) ?? 'An unknown browser'}${system === undefined ? '' : ` on ${system}`}`;
}

/** Nobody should wait longer for a response because a mail server is slow: the response may hold a key, shown once. */
const WAIT_MS = 3_000;

/** Call it after the commit. A mail that cannot be sent is logged, not retried. @param about what, for the log */
export async function sendSecurityMail(
  deps: { mailer: Mailer; logger: Logger },
  mail: Mail,
  about: string,
): Promise<void> {
  const ended = new AbortController();
  const sending = mailAndLog(deps, mail, about).finally(() => ended.abort());
  await Promise.race([sending, delay(WAIT_MS, ended.signal)]);
}

async function mailAndLog(
  { mailer, logger }: { mailer: Mailer; logger: Logger },
  mail: Mail,
  about: string,
): Promise<void> {
  try {
    await mailer.send(mail);
  } catch (error) {
    if (error instanceof MailError) {
      logger.warn(
        { failure: error.failure, smtpStatus: error.smtpStatus },
        `a security mail could not be sent: ${about}`,
      );
    } else logger.error({ err: error }, `a security mail could not be sent: ${about}`);
  }
}
