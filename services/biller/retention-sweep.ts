import { delay } from '../../shared/runtime/clock.ts';
import {
  deleteAttempts,
  deleteExpired,
  deleteExpiredHistory,
  deleteExpiredMatches,
  deleteMarks,
  EXPIRING_TABLES,
  forgetDeletedMonitors,
  listCounterIds,
  readLastDeletedNumbers,
} from '../../shared/maintenance/retention.ts';
import type { DeletedRows, MonitorRows } from '../../shared/maintenance/retention.ts';
import type { Continuing } from './jobs.ts';
import type { BillerDeps } from './start-biller.ts';

const MATCH_DAYS = 30;
const MONITORS_PER_PAGE = 500;
/** Rows per statement: locks and transactions stay short, and other work runs in between. */
const BATCH = 5_000;
/** After a statement that deleted rows comes a sleep of this many times the statement's duration. */
const SLEEP_FACTOR = 12;
const MAX_SLEEP_MS = 5_000;

/** `signal` ends the sleep after a statement. */
type SweepDeps = Pick<BillerDeps, 'pool' | 'metrics'> & Continuing & { signal: AbortSignal };

/** Deletes everything past its retention in small statements. Repeating or stopping it at any point is harmless. */
export async function sweepRetention(deps: SweepDeps): Promise<void> {
  const { pool } = deps;
  let after = '';
  for (;;) {
    const ids = await listCounterIds(pool, after, MONITORS_PER_PAGE);
    if (ids.length > 0 && !(await deps.mayContinue())) return;
    await sweepMonitors(deps, ids);
    if (ids.length < MONITORS_PER_PAGE) break;
    after = ids.at(-1)!;
  }
  for (const table of EXPIRING_TABLES) {
    let deleted = BATCH;
    while (deleted >= BATCH && (await deps.mayContinue())) {
      deleted = await paced(deps, table, () => deleteExpired(pool, table, BATCH), Number);
    }
  }
}

async function sweepMonitors(deps: SweepDeps, ids: string[]): Promise<void> {
  const { pool, metrics } = deps;
  const all = ids.map((monitorId) => ({ monitorId, after: 0 }));
  await deleteOldest(deps, 'matches', all, (monitors, limit) =>
    deleteExpiredMatches(pool, monitors, { days: MATCH_DAYS, limit }),
  );
  const lastDeleted = await readLastDeletedNumbers(pool, ids);
  const orphaned = lastDeleted.map(({ monitorId, seq }) => ({ monitorId, after: 0, upTo: seq }));
  await deleteOldest(deps, 'delivery_attempts', orphaned, (monitors, limit) => deleteAttempts(pool, monitors, limit));
  metrics.swept.inc({ table: 'match_marks' }, await deleteMarks(pool, orphaned));
  metrics.swept.inc({ table: 'monitor_history' }, await deleteExpiredHistory(pool, ids, MATCH_DAYS));
  await forgetDeletedMonitors(pool, ids);
}

/**
 * Repeats a statement that deletes at most `limit` of the oldest rows of each monitor until none has more. Each
 * step is about the monitors that had as many as they were allowed.
 */
async function deleteOldest<Rows extends MonitorRows>(
  deps: SweepDeps,
  table: string,
  monitors: readonly Rows[],
  deleteSome: (monitors: readonly Rows[], limit: number) => Promise<DeletedRows[]>,
): Promise<void> {
  let left = monitors;
  while (left.length > 0 && (await deps.mayContinue())) {
    const limit = Math.max(1, Math.floor(BATCH / left.length));
    const step = () => deleteSome(left, limit);
    const rows = await paced(deps, table, step, (found) => found.reduce((sum, { deleted }) => sum + deleted, 0));
    const next = new Map(rows.filter(({ deleted }) => deleted >= limit).map((row) => [row.monitorId, row.after]));
    left = left
      .filter(({ monitorId }) => next.has(monitorId))
      .map((row) => ({ ...row, after: next.get(row.monitorId)! }));
  }
}

/** Runs a statement, counts the rows that it deleted, and sleeps, so that other work is hardly slowed down. */
async function paced<T>(
  { metrics, signal }: SweepDeps,
  table: string,
  step: () => Promise<T>,
  rowsOf: (result: T) => number,
): Promise<T> {
  const begun = performance.now();
  const result = await step();
  const rows = rowsOf(result);
  metrics.swept.inc({ table }, rows);
  if (rows > 0) await delay(Math.min(SLEEP_FACTOR * (performance.now() - begun), MAX_SLEEP_MS), signal);
  return result;
}
