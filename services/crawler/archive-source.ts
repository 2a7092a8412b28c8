import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Lane } from '../../shared/forum-client/lanes.ts';
import type { MalformedItem } from '../../shared/forum-client/malformed-item.ts';
import type { Upstream } from '../../shared/forum-client/upstream-client.ts';
import type { Call, Fetched, SourceLabel } from './crawl-source.ts';
import { readThings } from './crawl-source.ts';

export interface ArchiveSourceDeps {
  upstream: Upstream;
  clickhouse: ClickHouseClient;
  /** Whether ClickHouse's schema is up to date. */
  isArchiveReady: () => boolean;
  db: Queryable;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
}

/** Work on the archive or on gaps. `failed` is called if `run` throws. */
export interface EngineWork {
  run: (signal: AbortSignal) => Promise<void>;
  failed: () => void;
}

/** Work that is due every so often, one run at a time, and again at once after a failure. Times are milliseconds. */
export class RegularWork {
  private readonly everyMs: number;
  private readonly work: (now: number, signal: AbortSignal) => Promise<void>;
  private isRunning = false;
  private dueAt = Number.NEGATIVE_INFINITY;

  constructor(everyMs: number, work: RegularWork['work']) {
    this.everyMs = everyMs;
    this.work = work;
  }

  get hasRun(): boolean {
    return this.dueAt !== Number.NEGATIVE_INFINITY;
  }

  get nextAt(): number {
    return this.isRunning ? Number.POSITIVE_INFINITY : this.dueAt;
  }

  next(now: number): EngineWork | undefined {
    if (this.isRunning || now < this.dueAt) return undefined;
    this.isRunning = true;
    return {
      run: async (signal) => {
        await this.work(now, signal);
        this.dueAt = now + this.everyMs;
        this.isRunning = false;
      },
      failed: () => {
        this.isRunning = false;
      },
    };
  }
}

/** The result of a call that brings no items. */
export function withoutItems(seenAt: number, acknowledged: () => void): Fetched {
  return { things: [], seenAt, acknowledged };
}

/** A call that asks only our own engines. */
export function engineCall({ run, failed }: EngineWork, clock: Clock): Call {
  return {
    fetch: async (signal) => {
      await run(signal);
      return { ...withoutItems(clock(), () => undefined), isLocal: true };
    },
    failed,
  };
}

/** `num_comments` by bare id, and the items of unknown shape in the answer. */
export interface CommentCounts {
  counts: ReadonlyMap<string, number>;
  malformed: readonly MalformedItem[];
}

/**
 * Reads `num_comments` of posts, at most 100, by bare id. A post that the forum leaves out is missing from the result.
 *
 * @throws UpstreamError
 */
export async function readCommentCounts(
  deps: Pick<ArchiveSourceDeps, 'upstream' | 'metrics' | 'logger'> & { lane: Lane; label: SourceLabel },
  postIds: readonly string[],
  signal: AbortSignal,
): Promise<CommentCounts> {
  const id = postIds.map((postId) => `t3_${postId}`).join(',');
  const body = await deps.upstream.get('/api/info', { id }, { endpoint: 'info', lane: deps.lane, signal });
  const counts = new Map<string, number>();
  const { things, malformed } = readThings(body, { ...deps, endpoint: 'info' });
  for (const { kind, data } of things) {
    if (kind === 't3' && typeof data.num_comments === 'number') counts.set(data.id, data.num_comments);
  }
  return { counts, malformed };
}
