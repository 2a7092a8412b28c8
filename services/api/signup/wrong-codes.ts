import type { Queryable } from '../../../shared/postgres/pool.ts';
import { returnUse, hasUse, takeUse } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import type { SlidingLogLimit } from '../../../shared/stores/accounts/sliding-log-limits.ts';

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

/**
 * Takes a try before a code is judged, so that concurrent codes of a mailbox are judged one after the other, whatever
 * their token or process. Call it in a transaction.
 *
 * @returns false when the tries are used up: nothing was taken
 */
export async function takeTry(db: Queryable, mailboxHash: Buffer): Promise<boolean> {
  const [day, month] = limitsOf(mailboxHash);
  if ((await takeUse(db, day)) > 0) return false;
  if ((await takeUse(db, month)) === 0) return true;
  await returnUse(db, day.name);
  return false;
}

/** The code was right: returns the tries that this transaction took. */
export async function returnTry(db: Queryable, mailboxHash: Buffer): Promise<void> {
  for (const { name } of limitsOf(mailboxHash)) await returnUse(db, name);
}

/** Whether a code of this mailbox would be judged now. */
export async function hasTry(db: Queryable, mailboxHash: Buffer): Promise<boolean> {
  for (const limit of limitsOf(mailboxHash)) {
    if (!(await hasUse(db, limit))) return false;
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
