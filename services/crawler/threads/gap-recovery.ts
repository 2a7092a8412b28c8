import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { newestArchivedAt } from '../../../shared/crawl/archived-hours.ts';
import { boundsOfGap, closeGap, giveUpGaps, noteGapFound, readOpenGaps } from '../../../shared/crawl/crawl-gaps.ts';
import type { OpenGap } from '../../../shared/crawl/crawl-gaps.ts';
import { countItemsSeenAfter, lastSightOfPosts } from '../../../shared/crawl/thread-items.ts';
import { RegularWork } from '../archive-source.ts';
import { communityKey } from './tracked-posts.ts';
import type { ThreadSweep } from './thread-sweep.ts';

const EVERY_MS = 10_000;
const LOG_EVERY_MS = 30_000;
/** The beginning of the names of listing sources. */
const LISTINGS = 'listings:';
const POST_IDS = 'post-ids';
const COMMENT_IDS = 'comment-ids';
const THREADS = 'threads';
const READ_LIMIT = 500;
/** Gaps that are worked on at once, the newest first. */
const AT_ONCE = 16;
/** A source may extend a gap for a minute, and its own pages may still fill it. */
const SETTLE_MS = 75_000;
/**
 * While posts of the gap's time keep arriving, the walk over post ids is not done with it. The plan of checks must know
 * all of them, which takes the archive and this source up to 20 s.
 */
const POSTS_QUIET_MS = 30_000;
const GIVEN_UP_MS = 3 * 24 * 3_600_000;

export interface GapRecoveryDeps {
  clickhouse: ClickHouseClient;
  db: Queryable;
  logger: Logger;
}

/**
 * Works on the open gaps of listings: the sweep checks every post that may have had comments in one. A gap is closed
 * when those posts are checked and their threads are read, with the number of its items that were found.
 */
export class GapRecovery {
  private readonly sweep: Pick<ThreadSweep, 'setGaps' | 'waitingForGap' | 'lastPlanAt'>;
  private readonly deps: GapRecoveryDeps;
  /** The sweep knows the open gaps once it has run. */
  readonly scans = new RegularWork(EVERY_MS, (now, signal) => this.scan(now, signal));
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(sweep: Pick<ThreadSweep, 'setGaps' | 'waitingForGap' | 'lastPlanAt'>, deps: GapRecoveryDeps) {
    this.sweep = sweep;
    this.deps = deps;
  }

  private async scan(now: number, signal: AbortSignal): Promise<void> {
    const { db } = this.deps;
    // Those of ids too, which their own sources close: after a kill between a gap and the position that passes it, no
    // source may know the gap any more. One of post ids would keep others open forever.
    for (const sourcePrefix of [LISTINGS, POST_IDS, COMMENT_IDS]) {
      await giveUpGaps(db, { openedBefore: now - GIVEN_UP_MS, sourcePrefix });
    }
    // The posts of its own gaps are not followed any more.
    await giveUpGaps(db, { openedBefore: now, sourcePrefix: THREADS });
    const gaps = await readOpenGaps(db, { limit: AT_ONCE, sourcePrefix: LISTINGS });
    // Gaps of post ids are filled by their own source.
    const posts = await readOpenGaps(db, { limit: READ_LIMIT, sourcePrefix: POST_IDS });
    // Before any is closed: one that its source has extended since the last scan needs another plan.
    this.work(gaps);
    const left = [];
    for (const gap of gaps) {
      // Without its posts nobody knows which threads may have had comments in the gap.
      const lacksPosts = posts.some((other) => overlaps(gap, other));
      if (lacksPosts || !(await this.closeIfDone(gap, now, signal))) left.push(gap);
    }
    this.work(left);
    if (left.length > 0 && now - this.loggedAt >= LOG_EVERY_MS) await this.report(left, now, signal);
  }

  private work(gaps: readonly OpenGap[]): void {
    this.sweep.setGaps(
      gaps.map((gap) => {
        const communities = gap.communities && new Set(gap.communities.map(communityKey));
        return { id: gap.id, openedAt: gap.openedAt, ...boundsOfGap(gap), communities };
      }),
    );
  }

  private async closeIfDone(gap: OpenGap, now: number, signal: AbortSignal): Promise<boolean> {
    const { clickhouse, db, logger } = this.deps;
    if (this.sweep.waitingForGap(gap.id) !== 0 || now - gap.openedAt < SETTLE_MS) return false;
    const { afterAt, beforeAt } = boundsOfGap(gap);
    const posts = await lastSightOfPosts(clickhouse, { createdFrom: afterAt, createdTo: beforeAt }, signal);
    if (posts !== undefined && this.sweep.lastPlanAt - posts < POSTS_QUIET_MS) return false;
    // The archive may be behind by so much that it does not know the posts yet.
    if (((await newestArchivedAt(clickhouse, signal)) ?? Number.NEGATIVE_INFINITY) < gap.openedAt) return false;
    const found = await this.count(gap, signal);
    const isClosed = await closeGap(db, gap.id, { found, outcome: 'filled', upTo: gap });
    if (isClosed) logger.info({ gap: gap.id, source: gap.source, found }, 'a gap is closed');
    return isClosed;
  }

  /** Stores and logs what was found so far. */
  private async report(gaps: readonly OpenGap[], now: number, signal: AbortSignal): Promise<void> {
    this.loggedAt = now;
    let found = 0;
    for (const gap of gaps) {
      const count = await this.count(gap, signal);
      await noteGapFound(this.deps.db, gap.id, count);
      found += count;
    }
    const waiting = Math.max(...gaps.map(({ id }) => this.sweep.waitingForGap(id) ?? 0));
    this.deps.logger.info({ gaps: gaps.length, posts: waiting, found }, 'working on gaps');
  }

  private count(gap: OpenGap, signal: AbortSignal): Promise<number> {
    const { afterAt, beforeAt } = boundsOfGap(gap);
    const kind = gap.source === 'listings:new' ? 'post' : 'comment';
    const time = {
      kind,
      createdFrom: afterAt,
      createdTo: beforeAt,
      seenAfter: gap.openedAt,
      communities: gap.communities,
    } as const;
    return countItemsSeenAfter(this.deps.clickhouse, time, signal);
  }
}

function overlaps(one: OpenGap, other: OpenGap): boolean {
  const [a, b] = [boundsOfGap(one), boundsOfGap(other)];
  return a.afterAt <= b.beforeAt && b.afterAt <= a.beforeAt;
}
