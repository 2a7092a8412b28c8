import type { Queryable } from '../../../shared/postgres/pool.ts';
import { countWrongCode, lockSignup } from '../../../shared/stores/signups.ts';
import type { LockedSignup } from '../../../shared/stores/signups.ts';
import type { CodeHashes } from './signup-secrets.ts';

const WRONG_CODES_ALLOWED = 3;

/**
 * What became of a code. Refusals are data, not exceptions: a wrong code is counted by the transaction that found it wrong, so it must commit.
 */
export type CodeVerdict =
  | { outcome: 'unknown' | 'expired' | 'exhausted' }
  | { outcome: 'wrong'; triesLeft: number }
  | { outcome: 'right'; signup: LockedSignup };

/** Locks the sign-up first: of codes that come together each is judged knowing the ones before. To be called in a transaction. */
export async function judgeCode(
  db: Queryable,
  codes: CodeHashes,
  tokenHash: Buffer,
  code: string,
): Promise<CodeVerdict> {
  const signup = await lockSignup(db, tokenHash);
  if (!signup) return { outcome: 'unknown' };
  if (signup.wrong_codes >= WRONG_CODES_ALLOWED) return { outcome: 'exhausted' };
  if (signup.expired) return { outcome: 'expired' };
  if (!codes.isCode(signup.code_hash, tokenHash, code)) {
    return { outcome: 'wrong', triesLeft: WRONG_CODES_ALLOWED - (await countWrongCode(db, tokenHash)) };
  }
  return { outcome: 'right', signup };
}
