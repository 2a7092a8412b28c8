import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { Call } from '../../../services/crawler/crawl-source.ts';
import { ThreadSource } from '../../../services/crawler/threads/thread-source.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

const HOUR = 3_600_000;
export const START = Date.UTC(2026, 0, 1);
/** The call loop waits at least so long after a failure. */
const BACK_OFF_MS = 5_000;

/** A thread source in virtual time, with a forum, an archive, and a gap of a listing. Calls overlap by two. */
export class ThreadForum {
  now = START;
  /** How long before the start all posts were created, and seen. */
  ageMs = HOUR;
  /** Comments of every post that were archived right after it. */
  archivedComments = 0;
  /** How long the archive takes for an answer. */
  queryMs = 0;
  /** `num_comments` of every post. */
  comments = 0;
  /** Whether /api/info leaves the post out. */
  isLeftOut: (postId: string) => boolean = () => false;
  /** How the forum refuses a thread. */
  refusal: (postId: string) => UpstreamError | undefined = () => undefined;
  /** Whether the forum does not answer. */
  isUnavailable = false;
  /** Whether the database that holds the gaps refuses to answer. */
  isDatabaseUnavailable = false;
  /** Calls of /api/info. */
  checks = 0;
  /** Threads that were read. */
  readonly read = new Set<string>();
  readonly failures: unknown[] = [];
  /** The outcome of the gap. */
  outcome: unknown;
  /** Gaps of the source itself. */
  readonly gaps: unknown[] = [];
  /** Sources whose old gaps are given up. */
  readonly givenUp = new Set<unknown>();
  private readonly postIds: readonly string[];
  private readonly metrics = createMetrics();
  readonly source: ThreadSource;

  constructor(posts: number) {
    this.postIds = Array.from({ length: posts }, (_, n) => `p${n}`);
    this.source = new ThreadSource({
      upstream: {
        get: (path, params) => this.answer(path, params),
        post: () => Promise.reject(new Error('not asked for')),
        perSecond: () => 5,
        stop: () => Promise.resolve(),
      },
      clickhouse: {
        query: (request: Query) => this.archived(request),
      } as unknown as ClickHouseClient,
      db: {
        query: (text: string, values: unknown[]) =>
          this.isDatabaseUnavailable ? Promise.reject(new Error('unavailable')) : this.stored(text, values),
      } as unknown as Queryable,
      isArchiveReady: () => true,
      recordGap: (gap) => this.gaps.push(gap),
      metrics: this.metrics,
      logger: silentLogger(),
      clock: () => this.now,
    });
  }

  /** Threads that wait to be read, as the metrics tell. */
  async backlog(): Promise<number> {
    return (await this.metrics.crawlerThreadBacklog.get()).values[0]?.value ?? 0;
  }

  /** Posts that are followed, as the metrics tell. */
  async followed(): Promise<number> {
    return (await this.metrics.crawlerFollowedPosts.get()).values[0]?.value ?? 0;
  }

  /** Makes the calls of the next minutes; each begins before the one before it ends. */
  async run(minutes: number): Promise<void> {
    const until = this.now + minutes * 60_000;
    let open: Call | undefined;
    while (this.now < until) {
      const step = this.source.next(this.now);
      if (open !== undefined) await this.make(open);
      else if ('waitMs' in step) this.now += Math.max(200, step.waitMs);
      open = 'waitMs' in step ? undefined : step;
    }
    if (open !== undefined) await this.make(open);
  }

  private async make(call: Call): Promise<void> {
    try {
      const fetched = await call.fetch(new AbortController().signal);
      fetched.acknowledged();
      this.now += fetched.isLocal === true ? this.queryMs : 200;
    } catch (error) {
      call.failed(error);
      this.failures.push(error);
      this.now += BACK_OFF_MS;
    }
  }

  private answer(path: string, params: Record<string, string>): Promise<unknown> {
    if (this.isUnavailable) return Promise.reject(new UpstreamError('broken', 'unavailable'));
    if (path === '/api/info') {
      this.checks += 1;
      const asked = params.id!.split(',').map((name) => name.slice(3));
      return Promise.resolve(listing(asked.filter((id) => !this.isLeftOut(id)).map((id) => this.post(id))));
    }
    const postId = path.slice('/comments/'.length);
    const refusal = this.refusal(postId);
    if (refusal) return Promise.reject(refusal);
    this.read.add(postId);
    return Promise.resolve([listing([this.post(postId)]), listing([])]);
  }

  private post(id: string): unknown {
    const data = {
      id,
      author: 'a',
      subreddit: 'tea',
      title: 't',
      selftext: '',
      over_18: false,
      permalink: '/r/tea',
      score: 1,
    };
    return { kind: 't3', data: { ...data, created_utc: this.createdAt / 1_000, num_comments: this.comments } };
  }

  private get createdAt(): number {
    return START - this.ageMs;
  }

  private archived({ query, query_params: params = {} }: Query): Promise<unknown> {
    const { createdAt, archivedComments: comments } = this;
    const { from = 0, to = 0, created = 0 } = params as Record<string, number>;
    const ofAll = (row: object): unknown[] => this.postIds.map((postId) => ({ postId, community: 'tea', ...row }));
    let rows: unknown[] = [];
    if (query.includes('AS seenAt, max(subreddit)')) {
      if (from <= createdAt && createdAt < to && created <= createdAt) rows = ofAll({ createdAt, seenAt: createdAt });
    } else if (query.includes('AS oldestAt')) {
      if (from <= createdAt && createdAt < to && comments > 0) rows = ofAll({ comments, oldestAt: createdAt });
    } else if (query.includes('uniqExact(thing_id) AS comments')) {
      if (comments > 0) rows = (params.ids as string[]).map((postId) => ({ postId, comments }));
    } else if (query.includes('AS firstSource')) {
      rows = Array.from({ length: comments }, (_, n) => ({ thingId: `t1_${n}`, firstSource: 'listings' }));
    } else if (query.includes(' AS at\n')) rows = [{ at: this.now }];
    return Promise.resolve({ json: () => Promise.resolve(rows) });
  }

  private stored(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number }> {
    if (text.includes('opened_at <')) this.givenUp.add(values[0]);
    if (text.includes('outcome = $2')) this.outcome = values[1];
    const isAsked = text.includes('FROM crawl_gaps') && values[0] === 'listings:' && this.outcome === undefined;
    return Promise.resolve({ rows: isAsked ? [gapRow()] : [], rowCount: 1 });
  }
}

interface Query {
  query: string;
  query_params?: Record<string, unknown>;
}

function listing(children: unknown[]): unknown {
  return { kind: 'Listing', data: { after: null, children } };
}

function gapRow(): unknown {
  const [openedAt, afterAt, beforeAt] = [0, 20, 1].map((minutes) => START - minutes * 60_000);
  return { gap: { id: 1, source: 'listings:comments', reason: 'overflow', openedAt, afterAt, beforeAt, found: 0 } };
}
