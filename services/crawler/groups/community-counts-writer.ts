import type { Queryable } from '../../../shared/postgres/pool.ts';
import { isPostgresAway } from '../../../shared/postgres/postgres-away.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { addCommunityCounts } from '../../../shared/stores/crawl/community-rates.ts';
import type { CommunityCounts } from './community-counts.ts';

const INTERVAL_MS = 60_000;

/** Adds the counts of this process to those of all, once a minute. While Postgres is away they wait in memory. */
export class CommunityCountsWriter {
  private readonly deps: { db: Queryable; counts: CommunityCounts; logger: Logger };

  constructor(deps: CommunityCountsWriter['deps']) {
    this.deps = deps;
  }

  /** Runs until the signal aborts; writes once more then. Throws only unexpected errors. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(INTERVAL_MS, signal);
      await this.write();
    }
  }

  private async write(): Promise<void> {
    const { db, counts, logger } = this.deps;
    const taken = counts.take();
    if (taken.length === 0) return;
    try {
      await addCommunityCounts(db, taken);
    } catch (error) {
      if (!isPostgresAway(error)) throw error;
      counts.putBack(taken);
      logger.debug({ err: error }, 'the counts of communities were not written; they are added later');
    }
  }
}
