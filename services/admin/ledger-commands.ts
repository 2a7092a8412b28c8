import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { agrees, checkLedgers, compareLedger, correctLedger } from '../../shared/billing/ledger-check.ts';
import type { ComparedLedger, LedgerCorrection, TrustedRecord } from '../../shared/billing/ledger-check.ts';
import { storeLedgerMismatches } from '../../shared/maintenance/settings.ts';
import { chosenAccount, requireAccount, withAccount } from './account-commands.ts';
import type { AccountOptions } from './account-commands.ts';
import { AdminError, examples, oneOf, printedRow, reference } from './command.ts';
import type { AddCommands } from './command.ts';

export const addCommands: AddCommands = (program, { lines }) => {
  const ledger = program.command('ledger');
  withAccount(ledger.command('check'))
    .description(
      'compare every balance with its ledger and print a line for each account that differs; exit with 1 if any does',
    )
    .addHelpText(
      'after',
      '\nWithout options, it compares all accounts and updates the figure behind the alert LedgerMismatch.',
    )
    .addHelpText('after', examples('ledger check', 'ledger check --account acc_5n2w8r0c6h1j'))
    .action(
      lines(async ({ pool }, options: AccountOptions) => {
        const account = await chosenAccount(pool, options);
        return account === undefined ? checkAll(pool) : checkOne((await compareLedger(pool, account.id))!);
      }),
    );
  withAccount(ledger.command('correct'))
    .description(
      'correct a difference between the balance of an account and its ledger, with one entry of kind "correction"',
    )
    .requiredOption(
      '--reference <text>',
      'the reason, which the customer sees; repeating the command with the same reason changes nothing',
      reference,
    )
    .option('--trust <ledger|balance>', 'which one is right', oneOf('--trust', ['ledger', 'balance']), 'ledger')
    .addHelpText(
      'after',
      `
--trust ledger: the balance becomes the sum of the ledger. This is the default, because the ledger is the record: it is
append-only, the customer has seen it, and no balance may change without an entry.
--trust balance: the balance stays, and the entry makes up the difference. Use it when the ledger is known to be wrong:
an entry was lost in a restore, or was added by hand.
A balance is never below 0: a ledger whose sum is below 0 can only be corrected with --trust balance.
Releases without this command answer 500 for ledger pages with such an entry: replace their processes first.`,
    )
    .addHelpText(
      'after',
      examples(
        'ledger correct --account acc_5n2w8r0c6h1j --reference ticket-17',
        'ledger correct --account acc_5n2w8r0c6h1j --reference ticket-17 --trust balance',
      ),
    )
    .action(
      lines(async ({ pool }, options: AccountOptions & { reference: string; trust: TrustedRecord }) => {
        const { id: accountId } = await requireAccount(pool, options);
        return correct(pool, { accountId, reference: options.reference, trusted: options.trust });
      }),
    );
};

async function* checkAll(pool: Pool): AsyncIterable<object> {
  const { differing, skipped } = yield* printMismatches(pool);
  if (differing > 0) throw new AdminError(`${differing} balances differ from their ledger.`);
  if (skipped > 0) throw new AdminError(`${skipped} ledgers were not compared.`);
  yield { status: 'every balance is what its ledger says' };
}

/** Compares all accounts, and stores for the metric how many differ. */
async function* printMismatches(pool: Pool): AsyncGenerator<object, { differing: number; skipped: number }> {
  let differing = 0;
  let skipped = 0;
  for await (const { mismatches, lastId, tooLong } of checkLedgers(pool)) {
    if (tooLong !== undefined) {
      skipped++;
      yield { account_id: lastId, status: 'not compared: its ledger takes too long to read' };
    }
    yield* mismatches.map(printedRow);
    differing += mismatches.length;
  }
  await storeLedgerMismatches(pool, differing);
  return { differing, skipped };
}

function* checkOne(compared: ComparedLedger): Iterable<object> {
  yield printedRow(compared);
  if (!agrees(compared)) throw new AdminError('The balance differs from its ledger.');
}

/** Prints what was done before it compares all accounts again, which may take minutes. */
async function* correct(pool: Pool, correction: LedgerCorrection): AsyncIterable<object> {
  const { accountId, reference: used, trusted } = correction;
  const corrected = await inTransaction(pool, (client) => correctLedger(client, correction));
  if (!corrected) throw new AdminError(`The account ${accountId} no longer exists.`);
  const { outcome, compared } = corrected;
  if (outcome === 'negative') {
    throw new AdminError(
      `Nothing was changed: the sum of the ledger is ${compared.sum}, but a balance is never below 0. Find out what is wrong with the entries, then use --trust balance.`,
    );
  }
  if (outcome === 'repeated' && !agrees(compared)) {
    throw new AdminError(
      `--reference: ${used} was already used; nothing was changed. The account differs again: use another reference.`,
    );
  }
  if (outcome === 'corrected') {
    const { amount, balance } = corrected;
    const before = {
      balance_before: compared.balance,
      sum_before: compared.sum,
      broken_entries: compared.brokenEntries,
    };
    yield { account_id: accountId, corrected: true, trusted, ...before, amount, credits: balance, reference: used };
  } else {
    const why = outcome === 'repeated' ? `${used} was used before` : 'the balance is what its ledger says';
    const status = `nothing was changed: ${why}`;
    yield { account_id: accountId, corrected: false, credits: compared.balance, status };
  }
  const { differing } = yield* printMismatches(pool);
  yield { accounts_that_differ: differing };
}
