import type { Command } from 'commander';
import { findAccount, listAccounts, openAccount } from '../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../shared/accounts/accounts.ts';
import { listApiKeys } from '../../shared/accounts/api-keys.ts';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../shared/accounts/close-account.ts';
import {
  CODE_SECONDS,
  hashMailedToken,
  newLinkToken,
  newSignupToken,
} from '../../shared/accounts/rules/credentials.ts';
import {
  createMailboxHash,
  creditedMailboxOf,
  isEmailAddress,
  mailboxOf,
} from '../../shared/accounts/rules/mailbox.ts';
import { insertSignup } from '../../shared/accounts/signups.ts';
import { readLedgerForward } from '../../shared/billing/ledger-pages.ts';
import { credit } from '../../shared/billing/ledger.ts';
import { givePack, refundPack } from '../../shared/billing/packs.ts';
import { listReceipts } from '../../shared/billing/payments.ts';
import { isPackPrice, planOf, SIGN_UP_CREDITS } from '../../shared/billing/rules/plans.ts';
import type { Pack } from '../../shared/billing/rules/plans.ts';
import { listMonitors } from '../../shared/monitors/monitors.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, PoolClient, Queryable } from '../../shared/postgres/pool.ts';
import { sqlState } from '../../shared/postgres/postgres-unavailable.ts';
import type { Config } from '../../shared/runtime/config.ts';
import { readEndpoints } from '../../shared/runtime/endpoints-file.ts';
import { AdminError, examples, integer, printedRow, reference, requireSecretKeys } from './command.ts';
import type { AddCommands } from './command.ts';

const MAX_CREDITS = 1_000_000_000;
const REFERENCE_HELP = 'the reason; each can be used only once, so repeating a command never credits twice';
const UNIQUE_VIOLATION = '23505';

export interface AccountOptions {
  email?: string;
  account?: string;
}

export const addCommands: AddCommands = (program, { lines, table }) => {
  const account = program.command('account');
  account
    .command('create')
    .description('open an account and print its API key, which is shown only once')
    .requiredOption('--email <address>', 'one account per mailbox', emailAddress)
    .option('--credits <n>', 'credits to grant', integer('--credits', MAX_CREDITS, 0), SIGN_UP_CREDITS)
    .option('--pack <none|9|29|79>', 'the pack whose limits apply; its credits are not added', packOrNone)
    .addHelpText('after', examples('account create --email a@example.com --credits 500 --pack 9'))
    .action(
      lines(async ({ pool }, { email, credits, pack = 0 }: { email: string; credits: number; pack?: Pack }) => {
        const opened = await inTransaction(pool, (client) =>
          openAccount(client, { email, credits, pack, keyName: 'first key' }),
        );
        if (!opened) throw new AdminError(`--email: the mailbox of ${email} already has an account.`);
        return [{ account_id: opened.accountId, api_key: opened.apiKey, credits }];
      }),
    );
  accountCommand(account, 'show')
    .description('print one account')
    .action(lines(async ({ pool }, options: AccountOptions) => [accountLine(await requireAccount(pool, options))]));
  account
    .command('list')
    .description('print up to 1,000 accounts in order of id, one per line')
    .option('--after <account_id>', 'start after this account')
    .addHelpText('after', examples('account list --after acc_1a2b3c4d5e6f'))
    .action(
      table(async ({ pool }, { after }: { after?: string }) => (await listAccounts(pool, after)).map(accountLine)),
    );
  const changeState = (change: typeof freezeAccount) =>
    lines(async ({ pool }, options: AccountOptions) => {
      const { id, status } = await requireAccount(pool, options);
      if (status === 'deleted') throw new AdminError(`${id} is deleted.`);
      await change(pool, id);
      return [accountLine(await requireAccount(pool, { account: id }))];
    });
  accountCommand(account, 'freeze')
    .description("reject an account's keys and pause its monitors until it is unfrozen")
    .action(changeState(freezeAccount));
  accountCommand(account, 'unfreeze')
    .description("accept an account's keys again; its monitors stay paused until they are resumed")
    .action(changeState(unfreezeAccount));
  accountCommand(account, 'delete', ' --yes')
    .description(
      'delete an account permanently: its keys and monitors immediately, its matches, webhooks and attempts shortly after',
    )
    .option('--yes', 'required, because deletion cannot be undone')
    .action(
      lines(async ({ pool, config }, options: AccountOptions & { yes?: boolean }) => {
        if (options.yes === undefined) throw new AdminError('--yes is required: a deleted account cannot be restored.');
        const { secretKey } = await requireSecretKeys(pool, config);
        const { id, mailbox } = await requireAccount(pool, options);
        const mailboxHash = createMailboxHash(secretKey)(creditedMailboxOf(mailbox));
        if (!(await closeAccount(pool, id, { mailboxHash }))) throw new AdminError(`${id} is already deleted.`);
        return [{ account_id: id, status: 'deleted' }];
      }),
    );
  accountCommand(account, 'export', ' > account.jsonl')
    .description('print all data of an account: the account, keys, monitors, payments and ledger, one item per line')
    .action(lines(async ({ pool }, options: AccountOptions) => accountData(pool, await requireAccount(pool, options))));
  accountCommand(account, 'sign-in-link')
    .description('print a link that signs in to the dashboard as this account; it works once, within 10 minutes')
    .action(
      lines(async ({ pool, config }, options: AccountOptions) => {
        const { id, email, mailbox } = await requireActiveAccount(pool, options);
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
      }),
    );
  accountCommand(account, 'grant', ' --credits 100 --reference ticket-17')
    .description('give credits')
    .requiredOption('--credits <n>', 'how many', integer('--credits', MAX_CREDITS))
    .requiredOption('--reference <text>', REFERENCE_HELP, reference)
    .action(
      lines(async ({ pool }, options: AccountOptions & { credits: number; reference: string }) => {
        const { id: accountId } = await requireAccount(pool, options);
        const grant = { accountId, kind: 'grant', credits: options.credits, reference: options.reference } as const;
        const balance = await once(pool, grant.reference, (client) => credit(client, grant));
        return [{ account_id: accountId, granted: grant.credits, credits: balance }];
      }),
    );
  accountCommand(account, 'pack', ' --pack 29 --reference invoice-42')
    .description('give a pack: its credits and its limits')
    .requiredOption('--pack <9|29|79>', 'its price', packPrice)
    .requiredOption('--reference <text>', REFERENCE_HELP, reference)
    .action(
      lines(async ({ pool }, options: AccountOptions & { pack: Exclude<Pack, 0>; reference: string }) => {
        const { id: accountId } = await requireAccount(pool, options);
        const { pack, reference: id } = options;
        const { credits } = planOf(pack);
        const balance = await once(pool, id, (client) => givePack(client, { id, accountId, pack, credits }));
        return [{ account_id: accountId, pack, granted: credits, credits: balance, reference: id }];
      }),
    );
  account
    .command('refund')
    .description('take a pack back; if its credits were spent, later credits pay for them first')
    .requiredOption('--reference <text>', 'the reference of the pack', reference)
    .addHelpText('after', examples('account refund --reference invoice-42'))
    .action(
      lines(async ({ pool }, options: { reference: string }) => {
        const refunded = await inTransaction(pool, (client) => refundPack(client, options.reference));
        if (!refunded) {
          throw new AdminError(`--reference: no pack with the reference ${options.reference} can be taken back.`);
        }
        const { accountId, taken, owed, balance } = refunded;
        return [{ account_id: accountId, taken, owed, credits: balance }];
      }),
    );
};

export function withAccount(command: Command): Command {
  return command
    .option('--email <address>', 'the account of this mailbox', emailAddress)
    .option('--account <account_id>', 'the account with this id');
}

/** A command about one account, with an example. @param more what the example gives besides the account */
export function accountCommand(noun: Command, name: string, more = ''): Command {
  return withAccount(noun.command(name)).addHelpText(
    'after',
    examples(`${noun.name()} ${name} --email a@example.com${more}`),
  );
}

/** @throws AdminError unless one of --email and --account is given, and names an account */
export async function requireAccount(db: Queryable, { email, account }: AccountOptions): Promise<StoredAccount> {
  if (email !== undefined && account !== undefined) throw new AdminError('Give --email or --account, not both.');
  const key = account ?? (email === undefined ? undefined : mailboxOf(email));
  if (key === undefined) throw new AdminError('--email or --account is required.');
  const found = await findAccount(db, key);
  if (!found)
    throw new AdminError(`${account === undefined ? '--email' : '--account'}: ${account ?? email} has no account.`);
  return found;
}

/** As requireAccount; undefined where neither option is given. */
export async function chosenAccount(db: Queryable, options: AccountOptions): Promise<StoredAccount | undefined> {
  return options.email === undefined && options.account === undefined ? undefined : requireAccount(db, options);
}

export async function requireActiveAccount(db: Queryable, options: AccountOptions): Promise<StoredAccount> {
  const account = await requireAccount(db, options);
  if (account.status !== 'active') throw new AdminError(`${account.id} is ${account.status}.`);
  return account;
}

function emailAddress(text: string): string {
  if (!isEmailAddress(text)) throw new AdminError(`--email: ${text} is not an e-mail address.`);
  return text;
}

function packPrice(text: string): Exclude<Pack, 0> {
  const price = Number(text);
  if (!isPackPrice(price) || price === 0) throw new AdminError('--pack: must be 9, 29 or 79.');
  return price;
}

function packOrNone(text: string): Pack {
  return text === 'none' ? 0 : packPrice(text);
}

function accountLine(account: StoredAccount): object {
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

const PAGE = 1_000;
const MOST_RECEIPTS = 100_000;

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

/** Without a DASHBOARD_URL of its own, a running installation may listen on another port than this process would. */
function dashboardOf({ http, dataDir }: Config): string {
  const isDefault = http.dashboardUrl === `http://localhost:${http.port}`;
  const api = isDefault ? readEndpoints(dataDir)?.api : undefined;
  return api === undefined ? http.dashboardUrl : `http://localhost:${new URL(api).port}`;
}

async function once<T>(pool: Pool, key: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(pool, work);
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    throw new AdminError(`--reference: ${key} was already used; no credits were given.`);
  }
}
