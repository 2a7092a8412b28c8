import type { Queryable } from '../../../shared/postgres/pool.ts';
import { boundsOfGap, readOpenGaps } from '../../../shared/stores/crawl/crawl-gaps.ts';
import type { EngineWork } from '../archive-source.ts';

const EVERY_MS = 10_000;
const LIMIT = 500;

/** A time whose posts are not all known; milliseconds since 1970, both included. */
export interface UnknownPosts {
  afterAt: number;
  beforeAt: number;
}

/** Reads the times whose posts the walk over post ids has still to catch up with. */
export class PostGaps {
  private readonly db: Queryable;
  private readonly learn: (gaps: readonly UnknownPosts[]) => void;
  private isRunning = false;
  private dueAt = Number.NEGATIVE_INFINITY;

  /** @param learn is told the gaps that are open */
  constructor(db: Queryable, learn: (gaps: readonly UnknownPosts[]) => void) {
    this.db = db;
    this.learn = learn;
  }

  /** The look at the gaps that is due. */
  next(now: number): EngineWork | undefined {
    if (this.isRunning || now < this.dueAt) return undefined;
    this.isRunning = true;
    return {
      run: async () => {
        const gaps = await readOpenGaps(this.db, { limit: LIMIT, sourcePrefix: 'post-ids' });
        this.learn(gaps.map(boundsOfGap));
        this.dueAt = now + EVERY_MS;
        this.isRunning = false;
      },
      failed: () => {
        this.isRunning = false;
      },
    };
  }
}
