import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { createMailboxHash } from '../../../shared/accounts/rules/mailbox.ts';
import { hashMailedToken, isSignupToken } from '../../../shared/accounts/rules/credentials.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { countWrongCode, lockSignup } from '../../../shared/accounts/signups.ts';
import type { ConfirmedMailbox } from '../../../shared/accounts/signups.ts';
import { returnUse, secondsUntilUse, takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import type { SlidingLogLimit } from '../../../shared/accounts/sliding-log-limits.ts';
import { ApiError } from '../http/api-error.ts';
import { sendSecurityMail } from '../account/security-mails.ts';
import { wrongCodesMail } from './code-mail.ts';
import type { CodePurpose } from './code-mail.ts';
import type { SignupDeps } from './signup-routes.ts';

const WRONG_CODES_ALLOWED = 3;

export type CodeChecker = ReturnType<typeof createCodeChecker>;

/** @param purpose codes mailed for another purpose are unknown */
export function createCodeChecker({ secretKey, previousKeys }: SignupDeps, purpose: CodePurpose['name']) {
  return {
    codes: createCodeHashes(secretKey, previousKeys),
    mailboxHash: createMailboxHash(secretKey, previousKeys),
    purpose,
  };
}

/** Refusals are data, not exceptions: the transaction that finds a wrong code also counts it, so it must commit. */
export type CheckedCode =
  | { outcome: 'unknown' | 'expired' | 'exhausted' }
  /** The mailbox had too many wrong codes: none is accepted any more, and links are mailed instead. */
  | { outcome: 'tries used up' }
  /** Tries left for this token, and the address to notify when this try was the mailbox's last. */
  | { outcome: 'wrong'; triesLeft: number; lastTryOf?: string }
  | { outcome: 'right'; signup: ConfirmedMailbox };

/** Concurrent codes of a mailbox are checked one after the other, whatever their token. Call it in a transaction. */
export async function checkCode(
  db: Queryable,
  { codes, mailboxHash, purpose }: CodeChecker,
  tokenHash: Buffer,
  code: string,
): Promise<CheckedCode> {
  const signup = await lockSignup(db, tokenHash, purpose);
  if (!signup) return { outcome: 'unknown' };
  if (signup.codeHash === null) return { outcome: 'tries used up' };
  if (signup.wrongCodes >= WRONG_CODES_ALLOWED) return { outcome: 'exhausted' };
  if (signup.expired) return { outcome: 'expired' };
  const mailbox = mailboxHash(signup.mailbox);
  if (!(await takeTry(db, mailbox))) return { outcome: 'tries used up' };
  if (codes.isCode(signup.codeHash, tokenHash, code)) {
    for (const { name } of limitsOf(mailbox)) await returnUse(db, name);
    return { outcome: 'right', signup };
  }
  const triesLeft = WRONG_CODES_ALLOWED - (await countWrongCode(db, tokenHash));
  if (await hasTry(db, mailbox)) return { outcome: 'wrong', triesLeft };
  return { outcome: 'wrong', triesLeft: 0, lastTryOf: signup.email };
}

/** Checks the code of a request, and does what a right one is for, in one transaction. @throws ApiError */
export async function useCode<T>(
  deps: SignupDeps,
  { checker, ...routes }: CodeRoutes & { checker: CodeChecker },
  { token, code }: { token: string; code: string },
  onRight: (db: Queryable, tokenHash: Buffer, signup: ConfirmedMailbox) => Promise<T>,
): Promise<T> {
  if (!isSignupToken(token)) throw codeError({ outcome: 'unknown' }, routes);
  const tokenHash = hashMailedToken(token);
  const used = await inTransaction(deps.pool, async (client) => {
    const checked = await checkCode(client, checker, tokenHash, code);
    return checked.outcome === 'right' ? { done: await onRight(client, tokenHash, checked.signup) } : { checked };
  });
  if ('done' in used) return used.done;
  await notifyOfWrongCodes(deps, used.checked);
  throw codeError(used.checked, routes);
}

interface CodeRoutes {
  /** The name of the token's field, and the error code when it is not valid. */
  tokenField: string;
  tokenError: ErrorCode;
  startOver: string;
}

function codeError(checked: Exclude<CheckedCode, { outcome: 'right' }>, routes: CodeRoutes): ApiError {
  const startOver = `Start over with ${routes.startOver}.`;
  switch (checked.outcome) {
    case 'unknown':
      return new ApiError(routes.tokenError, `${routes.tokenField}: is invalid, already used or expired. ${startOver}`);
    case 'expired':
      return new ApiError('code_expired', `code: is older than 10 minutes. ${startOver}`);
    case 'exhausted':
      return new ApiError('too_many_attempts', `code: three wrong codes were sent. ${startOver}`);
    case 'tries used up': {
      const link = `${routes.startOver} now mails a link instead, which the person must open.`;
      return new ApiError('too_many_attempts', `code: too many wrong codes were sent for this mailbox. ${link}`);
    }
    case 'wrong': {
      const left = ['no tries', '1 try', '2 tries'][checked.triesLeft];
      return new ApiError(
        'invalid_code',
        `code: is wrong; ${left} left.${checked.triesLeft === 0 ? ` ${startOver}` : ''}`,
      );
    }
  }
}

/** Call it after the commit that counted the last wrong code. The next mail, with a link, says the same. */
export async function notifyOfWrongCodes(
  deps: Pick<SignupDeps, 'mailer' | 'appUrl' | 'logger'>,
  checked: { outcome: string; lastTryOf?: string },
): Promise<void> {
  if (checked.lastTryOf === undefined) return;
  await sendSecurityMail(
    deps,
    wrongCodesMail(checked.lastTryOf, deps.appUrl),
    'wrong codes were entered for a mailbox',
  );
}

/** All million codes are equally likely. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/**
 * HMAC-SHA256 of a token and its code, with a key derived (HKDF) from the installation's secret key. Without it,
 * whoever has the database could try all million codes in a second. Codes mailed under a previous key are accepted.
 */
export function createCodeHashes(secretKey: string, previousKeys: readonly string[] = []) {
  const keys = [secretKey, ...previousKeys].map((one) =>
    Buffer.from(hkdfSync('sha256', one, '', 'forum-monitor sign-up codes v1', 32)),
  );
  const all = (tokenHash: Uint8Array, code: string) =>
    keys.map((key) => createHmac('sha256', key).update(tokenHash).update(code).digest());
  return {
    hash: (tokenHash: Uint8Array, code: string): Buffer => all(tokenHash, code)[0]!,
    isCode: (codeHash: Uint8Array, tokenHash: Uint8Array, code: string): boolean =>
      all(tokenHash, code).some((given) => codeHash.length === given.length && timingSafeEqual(given, codeHash)),
  };
}

const DAY = 24 * 3_600;
/**
 * Wrong codes of a mailbox, for every purpose, over all processes. A try hits one of a million codes, so within a year
 * guessing succeeds with a probability of at most 12 × 365 / 30 = 146 tries in 1,000,000: one mailbox in 6,800 whose
 * codes are guessed without pause for a whole year. A person who mistypes two codes a day does not notice the limits.
 * Beyond them mails have links of 130 bits, so the owner is not locked out.
 */
const PER_DAY = 6;
const PER_MONTH = 12;
const MONTH = 30 * DAY;

/** Before a code is checked, so that codes of a mailbox wait for each other. @returns false when nothing was taken */
async function takeTry(db: Queryable, mailboxHash: Buffer): Promise<boolean> {
  const [day, month] = limitsOf(mailboxHash);
  if ((await takeUse(db, day)) > 0) return false;
  if ((await takeUse(db, month)) === 0) return true;
  await returnUse(db, day.name);
  return false;
}

export async function hasTry(db: Queryable, mailboxHash: Buffer): Promise<boolean> {
  for (const limit of limitsOf(mailboxHash)) {
    if ((await secondsUntilUse(db, limit)) > 0) return false;
  }
  return true;
}

/** Sorted by name, the order in which they are taken. */
function limitsOf(mailboxHash: Buffer): [SlidingLogLimit, SlidingLogLimit] {
  const mailbox = mailboxHash.toString('hex');
  return [
    { name: `codes:wrong:day:${mailbox}`, maxUses: PER_DAY, seconds: DAY },
    { name: `codes:wrong:month:${mailbox}`, maxUses: PER_MONTH, seconds: MONTH },
  ];
}
