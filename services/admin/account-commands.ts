import { SIGN_UP_CREDITS } from '../../shared/domain/credits.ts';
import { isEmailAddress, mailboxOf } from '../../shared/domain/mailbox.ts';
import { isPack, planOf } from '../../shared/domain/plans.ts';
import type { Pack } from '../../shared/domain/plans.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import { findAccount, listAccounts } from '../../shared/stores/accounts.ts';
import type { StoredAccount } from '../../shared/stores/accounts.ts';
import { openAccount } from '../../shared/stores/open-account.ts';
import { AdminError } from './admin-error.ts';
import type { Command, OptionValues } from './command.ts';

const MOST_CREDITS = 1_000_000_000;

export const ACCOUNT_CREATE: Command = {
  name: 'account create',
  summary: 'open an account and print its API key, which is shown this once',
  optionsHelp: [
    '--email ADDRESS        required; one account per mailbox',
    `--credits N            credits to grant, default ${SIGN_UP_CREDITS}`,
    '--pack none|9|29|79    the pack whose limits apply, default none; its credits are not added',
  ],
  options: { email: { type: 'string' }, credits: { type: 'string' }, pack: { type: 'string' } },
  prepare(values) {
    const email = requiredEmail(values);
    const credits = creditsOption(values);
    const pack = packOption(values);
    return async (pool) => {
      const opened = await inTransaction(pool, (client) =>
        openAccount(client, { email, credits, pack, keyName: 'first key' }),
      );
      if (!opened) throw new AdminError(`--email: the mailbox of ${email} has an account already.`);
      return [{ account_id: opened.accountId, api_key: opened.apiKey, credits }];
    };
  },
};

export const ACCOUNT_SHOW: Command = {
  name: 'account show',
  summary: 'print one account',
  optionsHelp: ['--email ADDRESS        required'],
  options: { email: { type: 'string' } },
  prepare(values) {
    const email = requiredEmail(values);
    return async (pool) => {
      const account = await findAccount(pool, mailboxOf(email));
      if (!account) throw new AdminError(`--email: ${email} has no account.`);
      return [accountLine(account)];
    };
  },
};

export const ACCOUNT_LIST: Command = {
  name: 'account list',
  summary: 'print accounts in the order of their ids, a line each, 1,000 at most',
  optionsHelp: ['--after ACCOUNT_ID     go on after this one'],
  options: { after: { type: 'string' } },
  prepare(values) {
    return async (pool) => (await listAccounts(pool, values.after)).map(accountLine);
  },
};

function accountLine(account: StoredAccount): object {
  return {
    account_id: account.id,
    email: account.email,
    status: account.status,
    plan: planOf(account.pack).name,
    credits: account.balance,
    created_at: account.created_at.toISOString(),
  };
}

function requiredEmail({ email }: OptionValues): string {
  if (email === undefined) throw new AdminError('--email is required.');
  if (!isEmailAddress(email)) throw new AdminError(`--email: ${email} is not an e-mail address.`);
  return email;
}

function creditsOption({ credits }: OptionValues): number {
  if (credits === undefined) return SIGN_UP_CREDITS;
  const amount = /^\d{1,10}$/.test(credits) ? Number(credits) : Number.NaN;
  if (!(amount <= MOST_CREDITS)) throw new AdminError(`--credits: must be an integer from 0 to ${MOST_CREDITS}.`);
  return amount;
}

function packOption({ pack }: OptionValues): Pack {
  if (pack === undefined || pack === 'none') return 0;
  const price = /^[1-9]\d?$/.test(pack) ? Number(pack) : Number.NaN;
  if (!isPack(price)) throw new AdminError('--pack: must be none, 9, 29 or 79.');
  return price;
}
