import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import type { MailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { countWrongCode, lockSignup } from '../../../shared/stores/accounts/signups.ts';
import type { ConfirmedMailbox } from '../../../shared/stores/accounts/signups.ts';
import type { CodePurpose } from './code-mail.ts';
import { createCodeHashes } from './signup-secrets.ts';
import type { CodeHashes } from './signup-secrets.ts';
import type { SignupDeps } from './signup-deps.ts';
import { giveTryBack, hasTry, takeTry } from './wrong-codes.ts';

const WRONG_CODES_ALLOWED = 3;

/** What codes are judged with. */
export interface CodeJudge {
  codes: CodeHashes;
  mailboxHash: MailboxHash;
  /** Codes that were mailed for something else are not known. */
  purpose: CodePurpose['name'];
}

export interface WrongCode {
  outcome: 'wrong';
  /** Of this token. */
  triesLeft: number;
  /** The address to tell, when this one used the mailbox's tries up. */
  lastTryOf?: string;
}

export function createCodeJudge(
  { secretKey }: Pick<SignupDeps, 'secretKey'>,
  purpose: CodeJudge['purpose'],
): CodeJudge {
  return { codes: createCodeHashes(secretKey), mailboxHash: createMailboxHash(secretKey), purpose };
}

/**
 * What became of a code. Refusals are data, not exceptions: a wrong code is counted by the transaction that found it
 * wrong, so it must commit.
 */
export type CodeVerdict =
  | { outcome: 'unknown' | 'expired' | 'exhausted' }
  /** Too many wrong codes of the mailbox: none is judged, and links are mailed. */
  | { outcome: 'tries used up' }
  | WrongCode
  | { outcome: 'right'; signup: ConfirmedMailbox };

/**
 * Locks the sign-up first, and then the tries of its mailbox: of codes that come together each is judged knowing the
 * ones before, also those of other tokens. To be called in a transaction.
 */
export async function judgeCode(
  db: Queryable,
  { codes, mailboxHash, purpose }: CodeJudge,
  tokenHash: Buffer,
  code: string,
): Promise<CodeVerdict> {
  const signup = await lockSignup(db, tokenHash, purpose);
  if (!signup) return { outcome: 'unknown' };
  if (signup.code_hash === null) return { outcome: 'tries used up' };
  if (signup.wrong_codes >= WRONG_CODES_ALLOWED) return { outcome: 'exhausted' };
  if (signup.expired) return { outcome: 'expired' };
  const mailbox = mailboxHash(signup.mailbox);
  if (!(await takeTry(db, mailbox))) return { outcome: 'tries used up' };
  if (codes.isCode(signup.code_hash, tokenHash, code)) {
    await giveTryBack(db, mailbox);
    return { outcome: 'right', signup };
  }
  const triesLeft = WRONG_CODES_ALLOWED - (await countWrongCode(db, tokenHash));
  if (await hasTry(db, mailbox)) return { outcome: 'wrong', triesLeft };
  return { outcome: 'wrong', triesLeft: 0, lastTryOf: signup.email };
}
