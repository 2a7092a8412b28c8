import { creditedMailboxOf } from '../../../shared/domain/accounts/credited-mailbox.ts';
import { createMailboxHash } from '../../../shared/domain/accounts/mailbox-hash.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../../shared/stores/accounts/close-account.ts';
import { accountLine, requireAccount, ACCOUNT_HELP, ACCOUNT_OPTIONS, accountOption } from './account-choice.ts';
import { requireSecretKeys } from '../required-keys.ts';
import { AdminError } from '../admin-error.ts';
import type { PostgresCommand } from '../command.ts';

export const ACCOUNT_FREEZE: PostgresCommand = stateCommand(
  'account freeze',
  "refuse an account's keys and pause its monitors, until it is unfrozen",
  freezeAccount,
);

export const ACCOUNT_UNFREEZE: PostgresCommand = stateCommand(
  'account unfreeze',
  "accept an account's keys again; its monitors stay paused until they are resumed",
  unfreezeAccount,
);

export const ACCOUNT_DELETE: PostgresCommand = {
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
