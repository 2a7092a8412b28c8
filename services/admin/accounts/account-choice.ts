import { isEmailAddress, mailboxOf } from '../../../shared/domain/accounts/mailbox.ts';
import { planOf } from '../../../shared/domain/accounts/plans.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { findAccount } from '../../../shared/stores/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import { AdminError } from '../command.ts';
import type { PostgresCommand, OptionValues } from '../command.ts';

/** The options that name an account. */
export const ACCOUNT_OPTIONS: PostgresCommand['options'] = { email: { type: 'string' }, account: { type: 'string' } };
export const ACCOUNT_HELP = [
  '--email ADDRESS        the account of this mailbox,',
  '--account ACCOUNT_ID   or the account with this id',
];

/** An account as named on the command line. */
interface NamedAccount {
  option: '--email' | '--account';
  given: string;
  /** Mailbox or id. */
  key: string;
}

/** @throws AdminError unless exactly one of --email and --account is given and valid */
export function accountOption({ email, account }: OptionValues): NamedAccount {
  if (email !== undefined && account !== undefined) throw new AdminError('Give --email or --account, not both.');
  if (account !== undefined) return { option: '--account', given: account, key: account };
  if (email === undefined) throw new AdminError('--email or --account is required.');
  return { option: '--email', given: email, key: mailboxOf(requiredEmail({ email })) };
}

/** @throws AdminError when no account has this mailbox or id */
export async function requireAccount(db: Queryable, { option, given, key }: NamedAccount): Promise<StoredAccount> {
  const account = await findAccount(db, key);
  if (!account) throw new AdminError(`${option}: ${given} has no account.`);
  return account;
}

/** @throws AdminError */
export function requiredEmail({ email }: OptionValues): string {
  if (email === undefined) throw new AdminError('--email is required.');
  if (!isEmailAddress(email)) throw new AdminError(`--email: ${email} is not an e-mail address.`);
  return email;
}

/** The line that commands print for an account. */
export function accountLine(account: StoredAccount): object {
  return {
    account_id: account.id,
    email: account.email,
    status: account.status,
    plan: planOf(account.pack).name,
    credits: account.balance,
    ...(account.owed > 0 ? { owed: account.owed } : {}),
    created_at: account.createdAt.toISOString(),
  };
}
