import { SIGN_UP_CREDITS } from '../../../shared/domain/accounts/credits.ts';
import type { Pack } from '../../../shared/domain/accounts/plans.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { listAccounts } from '../../../shared/stores/accounts/accounts.ts';
import { openAccount } from '../../../shared/stores/accounts/open-account.ts';
import {
  accountLine,
  requireAccount,
  requiredEmail,
  ACCOUNT_HELP,
  ACCOUNT_OPTIONS,
  accountOption,
} from './account-choice.ts';
import { AdminError } from '../admin-error.ts';
import type { PostgresCommand, OptionValues } from '../command.ts';
import { creditsOption, packPrice } from '../credit-options.ts';

export const ACCOUNT_CREATE: PostgresCommand = {
  name: 'account create',
  summary: 'open an account and print its API key, which is shown only once',
  optionsHelp: [
    '--email ADDRESS        required; one account per mailbox',
    `--credits N            credits to grant, default ${SIGN_UP_CREDITS}`,
    '--pack none|9|29|79    the pack whose limits apply, default none; its credits are not added',
  ],
  examples: ['account create --email a@example.com --credits 500 --pack 9'],
  options: { email: { type: 'string' }, credits: { type: 'string' }, pack: { type: 'string' } },
  prepare(values) {
    const email = requiredEmail(values);
    const credits = grantOption(values.credits);
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

export const ACCOUNT_SHOW: PostgresCommand = {
  name: 'account show',
  summary: 'print one account',
  optionsHelp: ACCOUNT_HELP,
  examples: ['account show --email a@example.com'],
  options: ACCOUNT_OPTIONS,
  prepare(values) {
    const named = accountOption(values);
    return async (pool) => [accountLine(await requireAccount(pool, named))];
  },
};

export const ACCOUNT_LIST: PostgresCommand = {
  name: 'account list',
  summary: 'print up to 1,000 accounts in the order of their ids, a line each',
  optionsHelp: ['--after ACCOUNT_ID     start after this account'],
  examples: ['account list --after acc_1a2b3c4d5e6f'],
  isList: true,
  options: { after: { type: 'string' } },
  prepare(values) {
    return async (pool) => (await listAccounts(pool, values.after)).map(accountLine);
  },
};

function grantOption(credits: string | undefined): number {
  return credits === undefined ? SIGN_UP_CREDITS : creditsOption(credits, 0);
}

function packOption({ pack }: OptionValues): Pack {
  return pack === undefined || pack === 'none' ? 0 : packPrice(pack, 'none, 9, 29 or 79');
}
