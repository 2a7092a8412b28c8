import { eraseMonitorsInArchive } from '../../shared/clickhouse/erase-monitors.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import {
  eraseAttempts,
  eraseMatches,
  eraseMonitorCounters,
  eraseMonitorHistory,
  eraseMonitors,
  finishErasure,
  keepArchiveOffsets,
  listAccountsToErase,
  listAccountsToEraseInArchive,
  markErasedHere,
} from '../../shared/stores/upkeep/erasure.ts';
import type { AccountErasure } from '../../shared/stores/upkeep/erasure.ts';
import { isArchivedUpTo, readArchiveProgress } from './archive-progress.ts';
import type { ArchiveProgress } from './archive-progress.ts';
import type { BillerDeps } from './biller-deps.ts';

/** Rows a statement: short locks, short transactions, and other work in between. */
const BATCH = 5_000;
const MONITORS_PER_STATEMENT = 500;
const ACCOUNTS_PER_ROUND = 100;
/** Longer than a recorder or deliverer may take to publish what it had in hand when the account was deleted. */
const SETTLED_SECONDS = 60;

export type ErasureDeps = Pick<BillerDeps, 'pool' | 'kafka' | 'prefix' | 'clickhouse' | 'logger'> & {
  signal: AbortSignal;
  /** Asked before each statement that deletes many rows: whether this process may still go on. */
  mayContinue: () => Promise<boolean>;
};

/**
 * Brings the erasure of deleted accounts as far as it gets now. Steps of each, all harmless when repeated, so that a
 * crash at any point only means that the next round does one of them again:
 * 1. its rows go from Postgres, the monitors themselves last; 2. that nothing is left is noted. A minute later nobody
 *    publishes anything of it any more: 3. the heads of the topics are noted, and its rows go from ClickHouse;
 * 4. once the archive has got past those heads, what came since goes too; 5. when nothing is left, the end is noted.
 */
export async function advanceErasures(options: ErasureDeps): Promise<void> {
  const { pool, kafka, prefix, signal, logger } = options;
  const mayContinue = async () => !signal.aborted && (await options.mayContinue());
  for (const erasure of await listAccountsToErase(pool, ACCOUNTS_PER_ROUND)) {
    if (await eraseInPostgres(pool, erasure, mayContinue)) {
      logger.info({ account_id: erasure.account_id }, 'nothing of a deleted account is left in Postgres');
    }
  }
  const settled = await listAccountsToEraseInArchive(pool, SETTLED_SECONDS, ACCOUNTS_PER_ROUND);
  if (settled.length === 0) return;
  const progress = await readArchiveProgress(kafka, prefix);
  for (const erasure of settled) {
    if (!(await mayContinue())) return;
    if (await eraseInArchive(options, erasure, progress)) {
      logger.info({ account_id: erasure.account_id }, 'a deleted account is erased everywhere');
    }
  }
}

/** False when it was stopped before the end, or something was added meanwhile: the next round goes on. */
async function eraseInPostgres(
  pool: Pool,
  { account_id: accountId, monitor_ids: monitorIds }: AccountErasure,
  mayContinue: () => Promise<boolean>,
): Promise<boolean> {
  const repeat = async (deleteSome: () => Promise<number>) => {
    let deleted = BATCH;
    while (deleted >= BATCH && (await mayContinue())) deleted = await deleteSome();
  };
  for (let first = 0; first < monitorIds.length; first += MONITORS_PER_STATEMENT) {
    const ids = monitorIds.slice(first, first + MONITORS_PER_STATEMENT);
    // The lock rows first: a recorder that finds none adds nothing and repeats nothing.
    await eraseMonitorCounters(pool, ids);
    await repeat(() => eraseMatches(pool, ids, BATCH));
    await repeat(() => eraseAttempts(pool, ids, BATCH));
    if (!(await mayContinue())) return false;
    await eraseMonitorHistory(pool, ids);
    await eraseMonitors(pool, ids);
  }
  return markErasedHere(pool, accountId);
}

/** True when nothing of it is left. @param progress read before: what is archived by then is there to be deleted */
async function eraseInArchive(
  { pool, clickhouse }: ErasureDeps,
  { account_id: accountId, monitor_ids: monitorIds, archive_offsets: heads }: AccountErasure,
  progress: ArchiveProgress,
): Promise<boolean> {
  if (heads === null) await keepArchiveOffsets(pool, accountId, progress.heads);
  const isClean = await eraseMonitorsInArchive(clickhouse, monitorIds);
  if (!isClean || !isArchivedUpTo(heads ?? progress.heads, progress)) return false;
  await finishErasure(pool, accountId);
  return true;
}
