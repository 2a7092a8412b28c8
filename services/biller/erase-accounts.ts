import { eraseMonitorsInArchive } from '../../shared/clickhouse/erase-monitors.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import {
  eraseMonitorRows,
  eraseMonitors,
  finishErasure,
  storeArchiveOffsets,
  listAccountsToErase,
  listAccountsToEraseInArchive,
  markErasedHere,
} from '../../shared/stores/upkeep/erasure.ts';
import type { AccountErasure } from '../../shared/stores/upkeep/erasure.ts';
import { isArchivedUpTo, readArchiveProgress } from './archive-progress.ts';
import type { ArchiveProgress } from './archive-progress.ts';
import type { BillerDeps } from './start-biller.ts';

/** Rows per statement: locks and transactions stay short, and other work runs in between. */
const BATCH = 5_000;
const MONITORS_PER_STATEMENT = 500;
const ACCOUNTS_PER_ROUND = 100;
/** Longer than a recorder or deliverer can take to publish what it had read before the account was deleted. */
const SETTLED_SECONDS = 60;

export type ErasureDeps = Pick<BillerDeps, 'pool' | 'kafka' | 'prefix' | 'clickhouse' | 'logger'> & {
  /** Called before each statement that deletes many rows; returns whether this process still has the lease. */
  mayContinue: () => Promise<boolean>;
};

/**
 * Advances the erasure of deleted accounts as far as possible now. Each step is harmless to repeat, so after a crash
 * the next round repeats one of them. Steps for each account:
 * 1. Delete its rows from Postgres, the monitors last.
 * 2. Mark the account as erased in Postgres.
 * 3. A minute later, when no process publishes anything of it any more, store the heads of the topics and delete its
 *    rows from ClickHouse.
 * 4. When the archivers have passed those heads, delete the rows that they added since.
 * 5. When none is left, mark the erasure as finished.
 */
export async function advanceErasures(options: ErasureDeps): Promise<void> {
  const { pool, kafka, prefix, mayContinue, logger } = options;
  for (const erasure of await listAccountsToErase(pool, ACCOUNTS_PER_ROUND)) {
    if (await eraseInPostgres(pool, erasure, mayContinue)) {
      logger.info({ account_id: erasure.accountId }, 'a deleted account is erased from Postgres');
    }
  }
  const settled = await listAccountsToEraseInArchive(pool, SETTLED_SECONDS, ACCOUNTS_PER_ROUND);
  if (settled.length === 0) return;
  const progress = await readArchiveProgress(kafka, prefix);
  for (const erasure of settled) {
    if (!(await mayContinue())) return;
    if (await eraseInArchive(options, erasure, progress)) {
      logger.info({ account_id: erasure.accountId }, 'a deleted account is erased everywhere');
    }
  }
}

/** Returns false when it was stopped before the end or rows were added meanwhile; the next round continues. */
async function eraseInPostgres(
  pool: Pool,
  { accountId, monitorIds }: AccountErasure,
  mayContinue: () => Promise<boolean>,
): Promise<boolean> {
  for (let first = 0; first < monitorIds.length; first += MONITORS_PER_STATEMENT) {
    const ids = monitorIds.slice(first, first + MONITORS_PER_STATEMENT);
    if (!(await eraseMonitorRows(pool, ids, BATCH, mayContinue))) return false;
    await eraseMonitors(pool, ids);
  }
  return markErasedHere(pool, accountId);
}

/**
 * @param progress must be read before the call, so that everything archived by then is visible to the deletes
 * @returns true when nothing of the account is left
 */
async function eraseInArchive(
  { pool, clickhouse }: ErasureDeps,
  { accountId, monitorIds, archiveOffsets: heads }: AccountErasure,
  progress: ArchiveProgress,
): Promise<boolean> {
  if (heads === null) await storeArchiveOffsets(pool, accountId, progress.heads);
  const isClean = await eraseMonitorsInArchive(clickhouse, monitorIds);
  if (!isClean || !isArchivedUpTo(heads ?? progress.heads, progress)) return false;
  await finishErasure(pool, accountId);
  return true;
}
