import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import type { MailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { countWrongCode, lockSignup } from '../../../shared/stores/accounts/signups.ts';
import type { ConfirmedMailbox } from '../../../shared/stores/accounts/signups.ts';
import type { CodePurpose } from './code-mail.ts';
import { createCodeHashes } from './signup-secrets.ts';
import type { CodeHashes } from './signup-secrets.ts';
import type { SignupDeps } from './signup-deps.ts';
import { returnTry, hasTry, takeTry } from './wrong-codes.ts';

const WRONG_CODES_ALLOWED = 3;

/** Collaborators that judge codes. */
export interface CodeJudge {
  codes: CodeHashes;
  mailboxHash: MailboxHash;
  /** The purpose of the code; codes mailed for another purpose are unknown. */
  purpose: CodePurpose['name'];
}

export interface WrongCode {
  outcome: 'wrong';
  /** Tries left for this token. */
  triesLeft: number;
  /** The address to notify when this try was the mailbox's last. */
  lastTryOf?: string;
}

export function createCodeJudge(
  { secretKey, previousKeys }: Pick<SignupDeps, 'secretKey' | 'previousKeys'>,
  purpose: CodeJudge['purpose'],
): CodeJudge {
  return {
    codes: createCodeHashes(secretKey, previousKeys),
    mailboxHash: createMailboxHash(secretKey, previousKeys),
    purpose,
  };
}

/**
 * The outcome of a code. Refusals are data, not exceptions: the transaction that finds a wrong code also counts it, so
 * it must commit.
 */
export type CodeVerdict =
  | { outcome: 'unknown' | 'expired' | 'exhausted' }
  /** The mailbox had too many wrong codes: none is judged any more, and links are mailed instead. */
  | { outcome: 'tries used up' }
  | WrongCode
  | { outcome: 'right'; signup: ConfirmedMailbox };

/**
 * Locks the sign-up first, then the tries of its mailbox: concurrent codes of a mailbox are judged one after the other,
 * whatever their token. Call it in a transaction.
 */
export async function judgeCode(
  db: Queryable,
  { codes, mailboxHash, purpose }: CodeJudge,
  tokenHash: Buffer,
  code: string,
): Promise<CodeVerdict> {
  const signup = await lockSignup(db, tokenHash, purpose);
  if (!signup) return { outcome: 'unknown' };
  if (signup.codeHash === null) return { outcome: 'tries used up' };
  if (signup.wrongCodes >= WRONG_CODES_ALLOWED) return { outcome: 'exhausted' };
  if (signup.expired) return { outcome: 'expired' };
  const mailbox = mailboxHash(signup.mailbox);
  if (!(await takeTry(db, mailbox))) return { outcome: 'tries used up' };
  if (codes.isCode(signup.codeHash, tokenHash, code)) {
    await returnTry(db, mailbox);
    return { outcome: 'right', signup };
  }
  const triesLeft = WRONG_CODES_ALLOWED - (await countWrongCode(db, tokenHash));
  if (await hasTry(db, mailbox)) return { outcome: 'wrong', triesLeft };
  return { outcome: 'wrong', triesLeft: 0, lastTryOf: signup.email };
}
