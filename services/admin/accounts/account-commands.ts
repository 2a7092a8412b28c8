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
import { AdminError, integerOption, requireSecretKeys, printedRow } from '../command.ts';
import type { PostgresCommand, OptionValues } from '../command.ts';
import { MAX_CREDITS, packPrice } from '../credit-commands.ts';
import { creditedMailboxOf } from '../../../shared/domain/accounts/credited-mailbox.ts';
import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../../shared/stores/accounts/close-account.ts';
import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import { listApiKeys } from '../../../shared/stores/accounts/api-keys.ts';
import { readLedgerForward } from '../../../shared/stores/ledger/ledger-pages.ts';
import { listReceipts } from '../../../shared/stores/payments/payments.ts';
import { listMonitors } from '../../../shared/stores/monitors/monitors.ts';
import {
  CODE_SECONDS,
  hashMailedToken,
  newLinkToken,
  newSignupToken,
} from '../../../shared/domain/accounts/mailed-tokens.ts';
import type { Config } from '../../../shared/runtime/config.ts';
import { readEndpoints } from '../../../shared/runtime/endpoints-file.ts';
import { insertSignup } from '../../../shared/stores/accounts/signups.ts';

const ACCOUNT_CREATE: PostgresCommand = {
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
    const credits = integerOption(values, 'credits', { min: 0, max: MAX_CREDITS, byDefault: SIGN_UP_CREDITS });
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

const ACCOUNT_SHOW: PostgresCommand = {
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

const ACCOUNT_LIST: PostgresCommand = {
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

function packOption({ pack }: OptionValues): Pack {
  return pack === undefined || pack === 'none' ? 0 : packPrice(pack, 'none, 9, 29 or 79');
}

const ACCOUNT_FREEZE: PostgresCommand = stateCommand(
  'account freeze',
  "refuse an account's keys and pause its monitors, until it is unfrozen",
  freezeAccount,
);

const ACCOUNT_UNFREEZE: PostgresCommand = stateCommand(
  'account unfreeze',
  "accept an account's keys again; its monitors stay paused until they are resumed",
  unfreezeAccount,
);

const ACCOUNT_DELETE: PostgresCommand = {
  name: 'account delete',
  summary: 'delete an account for good: its keys and monitors at once, its matches, webhooks and attempts soon after',
  optionsHelp: [...ACCOUNT_HELP, '--yes                  required, because a deletion cannot be undone'],
  examples: ['account delete --email a@example.com --yes'],
  options: { ...ACCOUNT_OPTIONS, yes: { type: 'boolean' } },
  prepare(values) {
    const named = accountOption(values);
    if (values.yes === undefined) throw new AdminError('--yes is required: a deleted account cannot be restored.');
    return async (pool, config) => {
      const { secretKey } = await requireSecretKeys(pool, config);
      const { id, mailbox } = await requireAccount(pool, named);
      const mailboxHash = createMailboxHash(secretKey)(creditedMailboxOf(mailbox));
      if (!(await closeAccount(pool, id, { mailboxHash }))) throw new AdminError(`${named.given} is deleted already.`);
      return [{ account_id: id, status: 'deleted' }];
    };
  },
};

function stateCommand(
  name: string,
  summary: string,
  change: (pool: Pool, accountId: string) => Promise<boolean>,
): PostgresCommand {
  return {
    name,
    summary,
    optionsHelp: ACCOUNT_HELP,
    examples: [`${name} --email a@example.com`],
    options: ACCOUNT_OPTIONS,
    prepare(values) {
      const named = accountOption(values);
      return async (pool) => {
        const { id, status } = await requireAccount(pool, named);
        if (status === 'deleted') throw new AdminError(`${named.given} is deleted.`);
        await change(pool, id);
        return [accountLine(await requireAccount(pool, named))];
      };
    },
  };
}

const PAGE = 1_000;
const MOST_RECEIPTS = 100_000;

const ACCOUNT_EXPORT: PostgresCommand = {
  name: 'account export',
  summary:
    'print all data of an account: the account, its keys, its monitors, its payments and its ledger, a line each',
  optionsHelp: ACCOUNT_HELP,
  examples: ['account export --email a@example.com > account.jsonl'],
  options: ACCOUNT_OPTIONS,
  prepare(values) {
    const named = accountOption(values);
    return async (pool) => accountData(pool, await requireAccount(pool, named));
  },
};

async function* accountData(pool: Pool, account: StoredAccount): AsyncIterable<object> {
  yield { type: 'account', ...accountLine(account) };
  for (const key of await listApiKeys(pool, account.id)) yield { type: 'key', ...printedRow(key) };
  for (const monitor of await listMonitors(pool, account.id)) yield { type: 'monitor', ...printedRow(monitor) };
  for (const receipt of await listReceipts(pool, account.id, MOST_RECEIPTS)) {
    yield { type: 'payment', ...printedRow(receipt) };
  }
  let afterId = 0;
  for (;;) {
    const entries = await readLedgerForward(pool, { accountId: account.id, afterId, limit: PAGE });
    for (const entry of entries) yield { type: 'ledger', ...printedRow(entry) };
    if (entries.length < PAGE) return;
    afterId = entries.at(-1)!.id;
  }
}

export const ACCOUNT_SIGN_IN_LINK: PostgresCommand = {
  name: 'account sign-in-link',
  summary: 'print a link that signs in to the dashboard as this account, once, within 10 minutes',
  optionsHelp: ACCOUNT_HELP,
  examples: ['account sign-in-link --email demo@localhost'],
  options: ACCOUNT_OPTIONS,
  prepare(values) {
    const named = accountOption(values);
    return async (pool, config) => {
      const { id, email, mailbox, status } = await requireAccount(pool, named);
      if (status !== 'active') throw new AdminError(`${named.option}: ${named.given} is ${status}.`);
      const link = newLinkToken();
      await insertSignup(pool, {
        tokenHash: hashMailedToken(newSignupToken()),
        purpose: 'dashboard',
        email,
        mailbox,
        secret: { linkHash: hashMailedToken(link) },
        interaction: undefined,
        validSeconds: CODE_SECONDS,
      });
      return [{ account_id: id, url: `${dashboardOf(config)}/dashboard/sign-in/link?token=${link}` }];
    };
  },
};

/** Without a DASHBOARD_URL of its own, a running installation may listen on another port than this process would. */
function dashboardOf({ http, dataDir }: Config): string {
  const isDefault = http.dashboardUrl === `http://localhost:${http.port}`;
  const api = isDefault ? readEndpoints(dataDir)?.api : undefined;
  return api === undefined ? http.dashboardUrl : `http://localhost:${new URL(api).port}`;
}

export const COMMANDS = [
  ACCOUNT_CREATE,
  ACCOUNT_SHOW,
  ACCOUNT_LIST,
  ACCOUNT_FREEZE,
  ACCOUNT_UNFREEZE,
  ACCOUNT_DELETE,
  ACCOUNT_EXPORT,
  ACCOUNT_SIGN_IN_LINK,
];
