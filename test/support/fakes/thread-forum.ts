import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { UpstreamError } from '../../../shared/upstream/upstream-error.ts';
import { ThreadSource } from '../../../services/crawler/threads/thread-source.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

const HOUR = 3_600_000;
export const START = Date.UTC(2026, 0, 1);
/** The call loop waits at least so long after a failure. */
const BACK_OFF_MS = 5_000;

/** A thread source in virtual time, with a forum, an archive that has posts and no comments, and a gap of a listing. */
export class ThreadForum {
  now = START;
  /** `num_comments` of every post. */
  comments = 0;
  /** Whether /api/info leaves the post out. */
  isLeftOut: (postId: string) => boolean = () => false;
  /** How the forum refuses a thread. */
  refusal: (postId: string) => UpstreamError | undefined = () => undefined;
  /** Threads that were read. */
  readonly read = new Set<string>();
  readonly failures: unknown[] = [];
  /** The outcome of the gap. */
  outcome: unknown;
  /** Sources whose old gaps are given up. */
  readonly givenUp = new Set<unknown>();
  private readonly postIds: readonly string[];
  private readonly metrics = createMetrics();
  private readonly source: ThreadSource;

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
        query: (request: { query: string }) => this.archived(request.query),
      } as unknown as ClickHouseClient,
      db: { query: (text: string, values: unknown[]) => this.stored(text, values) } as unknown as Queryable,
      isArchiveReady: () => true,
      metrics: this.metrics,
      logger: silentLogger(),
      clock: () => this.now,
    });
  }

  /** The source moves to another process. */
  async end(): Promise<void> {
    await this.source.end();
  }

  /** Threads that wait to be read, as the metrics tell. */
  async backlog(): Promise<number> {
    return (await this.metrics.crawlerThreadBacklog.get()).values[0]?.value ?? 0;
  }

  /** Makes the calls of the next minutes, one after the other. */
  async run(minutes: number): Promise<void> {
    const until = this.now + minutes * 60_000;
    while (this.now < until) {
      const step = this.source.next(this.now);
      if ('waitMs' in step) {
        this.now += Math.max(200, step.waitMs);
        continue;
      }
      try {
        const fetched = await step.fetch(new AbortController().signal);
        fetched.acknowledged();
        if (fetched.isLocal !== true) this.now += 200;
      } catch (error) {
        step.failed(error);
        this.failures.push(error);
        this.now += BACK_OFF_MS;
      }
    }
  }

  private answer(path: string, params: Record<string, string>): Promise<unknown> {
    if (path === '/api/info') {
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
    return { kind: 't3', data: { ...data, created_utc: (START - HOUR) / 1_000, num_comments: this.comments } };
  }

  private archived(query: string): Promise<unknown> {
    const createdAt = START - HOUR;
    let rows: unknown[] = [];
    if (query.includes('AS seenAt, max(subreddit)')) {
      rows = this.postIds.map((postId) => ({ postId, createdAt, seenAt: createdAt, community: 'tea' }));
    } else if (query.includes(' AS at\n')) rows = [{ at: this.now }];
    return Promise.resolve({ json: () => Promise.resolve(rows) });
  }

  private stored(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number }> {
    if (text.includes('opened_at <')) this.givenUp.add(values[1]);
    if (text.includes('WHERE id = $1') && text.includes('outcome')) this.outcome = values[2];
    const isAsked = text.includes('FROM crawl_gaps') && values[1] === 'listings:' && this.outcome === undefined;
    return Promise.resolve({ rows: isAsked ? [gapRow()] : [], rowCount: 1 });
  }
}

function listing(children: unknown[]): unknown {
  return { kind: 'Listing', data: { after: null, children } };
}

function gapRow(): unknown {
  const [openedAt, after, before] = [0, 20, 1].map((minutes) => new Date(START - minutes * 60_000));
  const bounds = { after_at: after, before_at: before, after_thing: null, before_thing: null };
  return {
    id: 1,
    source: 'listings:comments',
    reason: 'overflow',
    opened_at: openedAt,
    ...bounds,
    communities: null,
    found: 0,
  };
}
