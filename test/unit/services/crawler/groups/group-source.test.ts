import { describe, expect, test } from 'vitest';
import type { Call } from '../../../../../services/crawler/crawl-source.ts';
import { GroupBudget } from '../../../../../services/crawler/pace.ts';
import type { GroupSourceDeps } from '../../../../../services/crawler/groups/group-source.ts';
import { GroupSource } from '../../../../../services/crawler/groups/group-source.ts';
import type { CrawlGap } from '../../../../../shared/crawl/crawl-gaps.ts';
import type { Queryable } from '../../../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import type { Metrics } from '../../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

const signal = new AbortController().signal;
const START = Date.UTC(2026, 0, 1);
const NO_OUTAGES = { failed: () => undefined, succeeded: () => undefined };

interface Circumstances {
  /** Whether Postgres is unavailable. */
  isUnavailable?: () => boolean;
  /** The forum's answer; default: the test makes no calls. */
  answer?: () => unknown;
  clock?: () => number;
  recordGap?: (gap: CrawlGap) => void;
  outages?: GroupSourceDeps['outages'];
  metrics?: Metrics;
}

/** A source on a database that has only cursors and the rates of some communities. */
function start(cursors: Map<string, unknown>, rates: object[], circumstances: Circumstances = {}) {
  const { isUnavailable = () => false, answer, clock = () => START, recordGap = () => undefined } = circumstances;
  const { outages = NO_OUTAGES, metrics = createMetrics() } = circumstances;
  const query = (text: string, values: unknown[] = []) => {
    if (isUnavailable()) return Promise.reject(Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' }));
    if (text.includes('INSERT INTO crawl_cursors')) {
      cursors.set(String(values[0]), JSON.parse(String(values[1])));
      return Promise.resolve({ rowCount: 1, rows: [] });
    }
    if (text.includes('FROM crawl_cursors')) {
      const position = cursors.get(String(values[0]));
      return Promise.resolve({ rows: position === undefined ? [] : [{ position }] });
    }
    return Promise.resolve({ rows: rates, rowCount: 0 });
  };
  const upstream = {
    get: () => (answer ? Promise.resolve(answer()) : Promise.reject(new Error('the test makes no calls'))),
    post: () => Promise.reject(new Error('the crawler never posts')),
    perSecond: () => 10,
    stop: () => Promise.resolve(),
  };
  return new GroupSource(0, {
    upstream,
    db: { query } as unknown as Queryable,
    holder: 'me',
    budget: new GroupBudget(() => 10),
    outages,
    metrics,
    logger: silentLogger(),
    clock,
    recordGap,
  });
}

const rateOf = (subreddit: string, perDay: number) => {
  return { subreddit, comments: perDay, posts: 0, measured_seconds: 864_000, total: 1 };
};

async function make(source: GroupSource, now = START): Promise<void> {
  const step = source.next(now) as Call;
  try {
    const { acknowledged } = await step.fetch(signal);
    acknowledged();
  } catch (error) {
    step.failed(error);
    throw error;
  }
}

test('saves which communities are in groups that are not slow, and takes them up again', async () => {
  const cursors = new Map<string, unknown>();
  const source = start(cursors, [rateOf('busy', 40_000), rateOf('quiet', 0)]);
  await source.begin(undefined);
  await make(source);
  expect([...cursors.keys()]).toEqual([]);
  await make(source);
  expect([...cursors]).toEqual([['listings:groups:0:prompt', ['busy']]]);
  const position = { groups: [], rest: START - 1_000, slow: START - 2_000_000 };
  const next = start(cursors, [rateOf('busy', 40_000), rateOf('quiet', 40_000)]);
  await next.begin(position);
  await make(next);
  const { groups, rest } = next.position() as { groups: { names: string[]; at: number }[]; rest: number };
  const times = new Map(groups.flatMap(({ names, at }) => names.map((name) => [name, at] as const)));
  expect(Math.min(...times.values(), rest)).toBe(START - 2_000_000);
});

describe('a listing that ends before what is known', () => {
  const listing = (names: string[], at: number) => ({
    kind: 'Listing',
    data: {
      after: null,
      children: names.map((id) => ({
        kind: 't1',
        data: {
          id,
          author: 'a',
          subreddit: 'busy',
          created_utc: at / 1_000,
          body: 'x',
          parent_id: 't3_p',
          link_id: 't3_p',
          score: 1,
        },
      })),
    },
  });

  /** A source that has read its only group once, and knows one comment. */
  async function read() {
    const forum = { body: listing(['old'], START) as unknown, now: START };
    const gaps: CrawlGap[] = [];
    const source = start(new Map(), [rateOf('busy', 40_000)], {
      answer: () => forum.body,
      clock: () => forum.now,
      recordGap: (gap) => gaps.push(gap),
    });
    await source.begin(undefined);
    for (let call = 0; call < 3; call++) await make(source);
    forum.now += 55_000;
    return { forum, gaps, source, next: () => make(source, forum.now) };
  }
  const readTo = (source: GroupSource): number | undefined => (source.position() as { rest?: number }).rest;

  test.each([
    ['is empty', listing([], 0), 56_000, 56_000],
    ['shows only what is new', listing(['new'], START + 50_000), 50_000, 50_000],
    ['shows only what is dated a minute ahead', listing(['new'], START + 116_000), 116_000, 56_000],
    ['shows only what is dated years ahead', listing(['new'], 2 * START), 176_000, 56_000],
  ])('and %s is a failure, and a gap if the forum says so again', async (_, body, missedTo, shownTo) => {
    const { forum, gaps, source, next } = await read();
    forum.body = body;
    await expect(next()).rejects.toMatchObject({ failure: 'broken', reason: 'short_listing' });
    expect([gaps, readTo(source)]).toEqual([[], START]);
    forum.now += 1_000;
    await next();
    const bounds = { afterAt: START - 10_000, beforeAt: START + missedTo };
    expect(gaps).toMatchObject([{ source: 'listings:groups:0', ...bounds, communities: ['busy'] }]);
    expect(readTo(source)).toBe(START + shownTo);
  });
});
