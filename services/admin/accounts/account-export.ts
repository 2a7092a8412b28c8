import type { Pool } from '../../../shared/postgres/pool.ts';
import type { StoredAccount } from '../../../shared/stores/accounts/accounts.ts';
import { listApiKeys } from '../../../shared/stores/accounts/api-keys.ts';
import { readLedgerForward } from '../../../shared/stores/ledger/ledger-pages.ts';
import { listReceipts } from '../../../shared/stores/payments/payments.ts';
import { listMonitors } from '../../../shared/stores/monitors/monitors.ts';
import { accountLine, requireAccount, ACCOUNT_HELP, ACCOUNT_OPTIONS, accountOption } from './account-choice.ts';
import type { PostgresCommand } from '../command.ts';
import { printedRow } from '../printed-row.ts';

const PAGE = 1_000;
const MOST_RECEIPTS = 100_000;

export const ACCOUNT_EXPORT: PostgresCommand = {
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
