import { createMailboxHash } from '../../shared/domain/accounts/mailbox-hash.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { closeAccount } from '../../shared/stores/accounts/close-account.ts';
import { freezeAccount, unfreezeAccount } from '../../shared/stores/accounts/freeze-account.ts';
import { findSecretKey } from '../../shared/stores/upkeep/settings.ts';
import { accountLine, foundAccount, WHICH_HELP, WHICH_OPTIONS, whichAccount } from './account-choice.ts';
import { AdminError } from './admin-error.ts';
import type { Command } from './command.ts';

export const ACCOUNT_FREEZE: Command = stateCommand(
  'account freeze',
  "refuse an account's keys and pause its monitors, until it is unfrozen",
  freezeAccount,
);

export const ACCOUNT_UNFREEZE: Command = stateCommand(
  'account unfreeze',
  "accept an account's keys again; its monitors stay paused until they are resumed",
  unfreezeAccount,
);

export const ACCOUNT_DELETE: Command = {
  name: 'account delete',
  summary: 'delete an account for good: keys and monitors at once, matches, webhooks and attempts soon after',
  optionsHelp: [...WHICH_HELP, '--yes                  required, since it cannot be undone'],
  options: { ...WHICH_OPTIONS, yes: { type: 'boolean' } },
  prepare(values) {
    const which = whichAccount(values);
    if (values.yes === undefined) throw new AdminError('--yes is required: a deleted account cannot be had back.');
    return async (pool, config) => {
      const secretKey = config.secretKey ?? (await findSecretKey(pool));
      if (secretKey === undefined) throw new AdminError('Set SECRET_KEY to the one that the service runs with.');
      const { id, mailbox } = await foundAccount(pool, which);
      const mailboxHash = createMailboxHash(secretKey)(mailbox);
      if (!(await closeAccount(pool, id, { mailboxHash }))) throw new AdminError(`${which.given} is deleted already.`);
      return [{ account_id: id, status: 'deleted' }];
    };
  },
};

function stateCommand(
  name: string,
  summary: string,
  change: (pool: Pool, accountId: string) => Promise<boolean>,
): Command {
  return {
    name,
    summary,
    optionsHelp: WHICH_HELP,
    options: WHICH_OPTIONS,
    prepare(values) {
      const which = whichAccount(values);
      return async (pool) => {
        const { id, status } = await foundAccount(pool, which);
        if (status === 'deleted') throw new AdminError(`${which.given} is deleted.`);
        await change(pool, id);
        return [accountLine(await foundAccount(pool, which))];
      };
    },
  };
}
