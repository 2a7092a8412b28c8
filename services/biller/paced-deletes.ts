import { delay } from '../../shared/runtime/clock.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { DeletedRows, MonitorRows } from '../../shared/stores/upkeep/retention.ts';

/** Rows per statement: locks and transactions stay short, and other work runs in between. */
const BATCH = 5_000;
/** After a statement that deleted rows comes a sleep of this many times the statement's duration. */
const SLEEP_FACTOR = 12;
const MAX_SLEEP_MS = 5_000;

export interface PacedDeletesDeps {
  metrics: Metrics;
  /** Ends the deletes after the current statement. */
  signal: AbortSignal;
  /** Called before each statement that deletes many rows; returns whether this process still has the lease. */
  mayContinue: () => Promise<boolean>;
  /** Default: a timer of the system. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Deletes in small statements, between which other work runs, and counts the deleted rows. */
export class PacedDeletes {
  private readonly deps: PacedDeletesDeps;

  constructor(deps: PacedDeletesDeps) {
    this.deps = deps;
  }

  /** Returns whether another statement may follow. */
  async mayContinue(): Promise<boolean> {
    return !this.deps.signal.aborted && (await this.deps.mayContinue());
  }

  /** Repeats a statement until it deletes fewer rows than it may. */
  async repeat(table: string, deleteSome: (limit: number) => Promise<number>): Promise<void> {
    let deleted = BATCH;
    while (deleted >= BATCH && (await this.mayContinue())) {
      deleted = await this.run(table, async () => {
        const rows = await deleteSome(BATCH);
        return { result: rows, rows };
      });
    }
  }

  /**
   * Repeats a statement that deletes the oldest rows of each monitor until none has more. Each round is about the
   * monitors that had as many as they were allowed.
   *
   * @param deleteSome deletes at most `limit` rows of each monitor
   */
  async ofMonitors<Rows extends MonitorRows>(
    table: string,
    monitors: readonly Rows[],
    deleteSome: (monitors: readonly Rows[], limit: number) => Promise<DeletedRows[]>,
  ): Promise<void> {
    let left = monitors;
    while (left.length > 0 && (await this.mayContinue())) {
      const limit = Math.max(1, Math.floor(BATCH / left.length));
      const deleted = await this.run(table, async () => {
        const result = await deleteSome(left, limit);
        return { result, rows: result.reduce((sum, { deleted }) => sum + deleted, 0) };
      });
      const after = new Map(
        deleted.filter((rows) => rows.deleted >= limit).map((rows) => [rows.monitorId, rows.after]),
      );
      left = left.flatMap((rows) => {
        const next = after.get(rows.monitorId);
        return next === undefined ? [] : [{ ...rows, after: next }];
      });
    }
  }

  private async run<T>(table: string, step: () => Promise<{ result: T; rows: number }>): Promise<T> {
    const begun = performance.now();
    const { result, rows } = await step();
    this.deps.metrics.swept.inc({ table }, rows);
    const { sleep = delay, signal } = this.deps;
    if (rows > 0) await sleep(Math.min(SLEEP_FACTOR * (performance.now() - begun), MAX_SLEEP_MS), signal);
    return result;
  }
}
