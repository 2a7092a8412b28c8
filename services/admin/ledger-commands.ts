import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { agrees, checkLedgerPage, compareLedger, correctLedger } from '../../shared/stores/ledger/ledger-check.ts';
import type {
  CheckedLedgerPage,
  ComparedLedger,
  CorrectedLedger,
  LedgerCorrection,
  TrustedRecord,
} from '../../shared/stores/ledger/ledger-check.ts';
import { storeLedgerMismatches } from '../../shared/stores/upkeep/settings.ts';
import { ACCOUNT_HELP, ACCOUNT_OPTIONS, accountOption, requireAccount } from './accounts/account-choice.ts';
import { AdminError, printedRow } from './command.ts';
import type { PostgresCommand } from './command.ts';
import { referenceOption } from './credit-commands.ts';

const LEDGER_CHECK: PostgresCommand = {
  name: 'ledger check',
  summary:
    'compare every balance with its ledger, print a line for each account that differs, and exit with 1 if any does',
  optionsHelp: [
    'Without an option it compares all accounts and renews what the alert LedgerMismatch sees. For one account only:',
    ...ACCOUNT_HELP,
  ],
  examples: ['ledger check', 'ledger check --account acc_5n2w8r0c6h1j'],
  options: ACCOUNT_OPTIONS,
  prepare(values) {
    if (values.email === undefined && values.account === undefined) return (pool) => Promise.resolve(checkAll(pool));
    const named = accountOption(values);
    return async (pool) => checkOne((await compareLedger(pool, (await requireAccount(pool, named)).id))!);
  },
};

const LEDGER_CORRECT: PostgresCommand = {
  name: 'ledger correct',
  summary: 'make the balance of an account and its ledger agree again, by one entry of kind "correction"',
  optionsHelp: [
    ...ACCOUNT_HELP,
    '--reference TEXT       required; the reason, which the customer sees; repeated, the command changes nothing',
    '--trust ledger         the balance becomes the sum of the ledger; the default, because the ledger is the record:',
    '                       it is append-only, the customer has seen it, and no balance may change without an entry',
    '--trust balance        the balance stays and the entry makes up the difference; for when the ledger is known to be',
    '                       wrong: an entry was lost in a restore, or added by hand',
    'A balance is never below 0: a ledger whose sum is below 0 can only be corrected by --trust balance.',
    'Processes of a release without this command answer 500 for pages of a ledger with such an entry: replace them first.',
  ],
  examples: [
    'ledger correct --account acc_5n2w8r0c6h1j --reference ticket-17',
    'ledger correct --account acc_5n2w8r0c6h1j --reference ticket-17 --trust balance',
  ],
  options: { ...ACCOUNT_OPTIONS, reference: { type: 'string' }, trust: { type: 'string' } },
  prepare(values) {
    const named = accountOption(values);
    const reference = referenceOption(values.reference);
    const trusted = trustOption(values.trust);
    return async (pool) => {
      const { id: accountId } = await requireAccount(pool, named);
      return correct(pool, { accountId, reference, trusted });
    };
  },
};

function trustOption(trust = 'ledger'): TrustedRecord {
  if (trust !== 'ledger' && trust !== 'balance') throw new AdminError('--trust: must be ledger or balance.');
  return trust;
}

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
  for (let afterId: string | undefined = ''; afterId !== undefined;) {
    const { mismatches, lastId, tooLong }: CheckedLedgerPage = await checkLedgerPage(pool, afterId);
    if (tooLong !== undefined) {
      skipped++;
      yield { account_id: lastId, status: 'not compared: its ledger takes too long to read' };
    }
    yield* mismatches.map(printedRow);
    differing += mismatches.length;
    afterId = lastId;
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
  const corrected = await inTransaction(pool, (client) => correctLedger(client, correction));
  if (!corrected) throw new AdminError(`${correction.accountId} has no account any more.`);
  refuse(corrected, correction);
  yield outcomeLine(corrected, correction);
  const { differing } = yield* printMismatches(pool);
  yield { accounts_that_differ: differing };
}

/** @throws AdminError when the account still differs */
function refuse({ outcome, compared }: CorrectedLedger, { reference }: LedgerCorrection): void {
  if (outcome === 'negative')
    throw new AdminError(
      `The sum of the ledger is ${compared.sum}, and a balance is never below 0; nothing was changed. Find out what is wrong with the entries, then give --trust balance.`,
    );
  if (outcome === 'repeated' && !agrees(compared))
    throw new AdminError(
      `--reference: ${reference} was used before; nothing was changed. The account differs again: give another one.`,
    );
}

function outcomeLine(corrected: CorrectedLedger, { accountId, reference, trusted }: LedgerCorrection): object {
  const { outcome, compared } = corrected;
  if (outcome !== 'corrected') {
    const why = outcome === 'repeated' ? `${reference} was used before` : 'the balance is what its ledger says';
    return {
      account_id: accountId,
      corrected: false,
      credits: compared.balance,
      status: `nothing was changed: ${why}`,
    };
  }
  const { amount, balance } = corrected;
  const before = { balance_before: compared.balance, sum_before: compared.sum, broken_entries: compared.brokenEntries };
  return { account_id: accountId, corrected: true, trusted, ...before, amount, credits: balance, reference };
}

export const COMMANDS = [LEDGER_CHECK, LEDGER_CORRECT];
