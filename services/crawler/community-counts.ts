import { storableText } from '../../shared/postgres/sql.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { addCommunityCounts } from '../../shared/crawl/community-rates.ts';
import type { CommunityCount } from '../../shared/crawl/community-rates.ts';

/** About the number of communities that are active in ten minutes of an outage of Postgres. */
const MAX_COMMUNITIES = 50_000;

/** What this process published of each community since it was last written to Postgres. */
export class CommunityCounts {
  private counts = new Map<string, CommunityCount>();

  addItem(kind: 'post' | 'comment', subreddit: string): void {
    const count = this.countOf(storableText(subreddit));
    if (!count) return;
    if (kind === 'post') count.posts += 1;
    else count.comments += 1;
  }

  /** Returns all counts, and begins again at zero. */
  take(): CommunityCount[] {
    const counts = [...this.counts.values()];
    this.counts = new Map();
    return counts;
  }

  /** Adds counts that could not be written. */
  putBack(counts: readonly CommunityCount[]): void {
    for (const { subreddit, comments, posts } of counts) {
      const count = this.countOf(subreddit);
      if (!count) continue;
      count.comments += comments;
      count.posts += posts;
    }
  }

  private countOf(subreddit: string): CommunityCount | undefined {
    const known = this.counts.get(subreddit);
    if (known || subreddit === '' || this.counts.size >= MAX_COMMUNITIES) return known;
    const added = { subreddit, comments: 0, posts: 0 };
    this.counts.set(subreddit, added);
    return added;
  }
}

const INTERVAL_MS = 60_000;

/**
 * Adds the counts of this process to those of all, once a minute. While Postgres is unavailable they wait in memory.
 */
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
      if (!isPostgresUnavailable(error)) throw error;
      counts.putBack(taken);
      logger.debug({ err: error }, 'the community counts were not written; they will be added later');
    }
  }
}
