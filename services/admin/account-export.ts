import type { Pool } from '../../shared/postgres/pool.ts';
import type { StoredAccount } from '../../shared/stores/accounts/accounts.ts';
import { listApiKeys } from '../../shared/stores/accounts/api-keys.ts';
import { readLedgerForward } from '../../shared/stores/accounts/ledger-pages.ts';
import { listMonitors } from '../../shared/stores/monitors/monitors.ts';
import { accountLine, foundAccount, WHICH_HELP, WHICH_OPTIONS, whichAccount } from './account-choice.ts';
import type { Command } from './command.ts';

const PAGE = 1_000;

export const ACCOUNT_EXPORT: Command = {
  name: 'account export',
  summary: 'print all that is kept of an account: itself, its keys, its monitors and its ledger, a line each',
  optionsHelp: WHICH_HELP,
  options: WHICH_OPTIONS,
  prepare(values) {
    const which = whichAccount(values);
    return async (pool) => everythingOf(pool, await foundAccount(pool, which));
  },
};

async function* everythingOf(pool: Pool, account: StoredAccount): AsyncIterable<object> {
  yield { type: 'account', ...accountLine(account) };
  for (const key of await listApiKeys(pool, account.id)) yield { type: 'key', ...key };
  for (const monitor of await listMonitors(pool, account.id)) yield { type: 'monitor', ...monitor };
  let afterId = 0;
  for (;;) {
    const entries = await readLedgerForward(pool, { accountId: account.id, afterId, limit: PAGE });
    for (const entry of entries) yield { type: 'ledger', ...entry };
    if (entries.length < PAGE) return;
    afterId = entries.at(-1)!.id;
  }
}
