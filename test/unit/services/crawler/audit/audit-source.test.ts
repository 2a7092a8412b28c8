import { expect, test } from 'vitest';
import { AuditSource } from '../../../../../services/crawler/audit/audit-source.ts';
import type { ClickHouseClient } from '../../../../../shared/clickhouse/clickhouse-client.ts';
import type { Queryable } from '../../../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';
import { rawComment, rawListing, rawThread } from '../../../../support/samples/forum-threads.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const START = Date.UTC(2026, 0, 1);
/** Within the first window, as of the things below. */
const CREATED = START + 10 * SECOND;

/** An audit in virtual time of a forum with one thread, which has two comments; the archive has the first one. */
class AuditedThread {
  private now = START;
  /** As the database gets them: hours, posts, weights, seen, totals. */
  private samples: unknown[] | undefined;
  private readonly thread: unknown;
  private readonly source: AuditSource;

  constructor(thread: unknown) {
    this.thread = thread;
    this.source = new AuditSource({
      upstream: {
        get: (path) => Promise.resolve(path === '/api/info' ? rawListing(postsOf(this.thread)) : this.thread),
        post: () => Promise.reject(new Error('not asked for')),
        perSecond: () => 5,
        stop: () => Promise.resolve(),
      },
      clickhouse: { query: ({ query }: { query: string }) => this.archived(query) } as unknown as ClickHouseClient,
      db: { query: (text: string, values: unknown[]) => this.stored(text, values) } as unknown as Queryable,
      isArchiveReady: () => true,
      metrics: createMetrics(),
      logger: silentLogger(),
      clock: () => this.now,
      stepsMs: [MINUTE],
    });
  }

  /** The counts of the thread in the first window. */
  async audited(): Promise<{ seen: unknown; total: unknown }> {
    while (this.samples === undefined && this.now < START + 5 * MINUTE) {
      const step = this.source.next(this.now);
      if ('waitMs' in step) this.now += step.waitMs;
      else (await step.fetch(new AbortController().signal)).acknowledged();
    }
    const [, , , seen, total] = this.samples ?? [];
    return { seen, total };
  }

  private archived(query: string): Promise<unknown> {
    const times = { createdAt: CREATED, seenAt: CREATED + SECOND };
    const isOfThread = query.includes('AS firstSource');
    const row = isOfThread
      ? { ...times, thingId: 't1_first', firstSource: 'listings' }
      : { ...times, postId: 'p0st', community: 'tea' };
    return Promise.resolve({ json: () => Promise.resolve([row]) });
  }

  private stored(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number }> {
    if (text.includes('audit_samples')) this.samples = values.map((column) => (column as unknown[])[0]);
    return Promise.resolve({ rows: [], rowCount: 1 });
  }
}

function postsOf(thread: unknown): unknown[] {
  return (thread as [{ data: { children: unknown[] } }])[0].data.children;
}

function threadOf(second: object, comments = 2): unknown {
  const created = { created_utc: CREATED / SECOND };
  const things = [rawComment('first', 't3_p0st', created), rawComment('second', 't3_p0st', { ...created, ...second })];
  return rawThread(things, { ...created, num_comments: comments });
}

test('a comment of the thread that the archive does not have counts as not seen', async () => {
  expect(await new AuditedThread(threadOf({})).audited()).toEqual({ seen: 1, total: 2 });
});

test('but not more of them than the forum counts', async () => {
  const thread = threadOf({ body: 7 }, 1);
  expect(await new AuditedThread(thread).audited()).toEqual({ seen: 1, total: 1 });
});

test('of a budget of 100 calls a second no more than three go into readings', async () => {
  const ids = Array.from({ length: 3_000 }, (_, post) => `p${post.toString(36)}`);
  const [post] = postsOf(threadOf({})) as [{ data: object }];
  let now = START;
  const readings = new Set<string>();
  const get = (path: string, query: Record<string, unknown> = {}): Promise<unknown> => {
    if (path !== '/api/info') readings.add(path);
    const asked = String(query.id).split(',');
    const posts = asked.map((name) => ({ ...post, data: { ...post.data, id: name.slice('t3_'.length) } }));
    return Promise.resolve(path === '/api/info' ? rawListing(posts) : threadOf({}));
  };
  const rows = ids.map((postId) => ({ postId, createdAt: CREATED, seenAt: CREATED, community: 'tea' }));
  const source = new AuditSource({
    upstream: {
      get,
      post: () => Promise.reject(new Error('not asked for')),
      perSecond: () => 100,
      stop: async () => {},
    },
    clickhouse: {
      query: ({ query }: { query: string }) =>
        Promise.resolve({ json: () => Promise.resolve(query.includes('AS community') ? rows : []) }),
    } as unknown as ClickHouseClient,
    db: { query: () => Promise.resolve({ rows: [], rowCount: 1 }) } as unknown as Queryable,
    isArchiveReady: () => true,
    metrics: createMetrics(),
    logger: silentLogger(),
    clock: () => now,
    stepsMs: [MINUTE],
  });
  while (now < START + 2 * MINUTE) {
    const step = source.next(now);
    if ('waitMs' in step) now += step.waitMs;
    else (await step.fetch(new AbortController().signal)).acknowledged();
  }
  // Half a minute of three calls a second, one and a half for each reading.
  expect(readings.size).toBe(60);
});
