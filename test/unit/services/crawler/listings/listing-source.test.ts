import { describe, expect, test } from 'vitest';
import type { Call, Fetched } from '../../../../../services/crawler/crawl-source.ts';
import { ListingSource } from '../../../../../services/crawler/listings/listing-source.ts';
import { Pace } from '../../../../../services/crawler/pace.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import type { CrawlGap } from '../../../../../shared/stores/crawl/crawl-gaps.ts';
import { UpstreamError } from '../../../../../shared/upstream/upstream-error.ts';
import { counted } from '../../../../support/fixtures/crawler-fixture.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

const START = Date.UTC(2026, 0, 1);
const signal = new AbortController().signal;

function listing(numbers: number[], after: number | null): unknown {
  const children = numbers.map((k) => {
    const data = { id: String(k), author: 'a', subreddit: 'tea', body: '', score: 1, parent_id: 't3_p' };
    return { kind: 't1', data: { ...data, link_id: 't3_p', created_utc: START / 1000 + k } };
  });
  return { kind: 'Listing', data: { after: after === null ? null : `t1_${after}`, children } };
}

function numbers(newest: number, count = 100): number[] {
  return Array.from({ length: count }, (_, index) => newest - index);
}

/** A source whose answers and clock the test sets. */
function start() {
  const gaps: CrawlGap[] = [];
  const metrics = createMetrics();
  const calls: { path: string; params: Record<string, string>; lane: string | undefined }[] = [];
  const forum = { now: START + 10_000_000, answer: (): unknown => listing([], null) };
  const source = new ListingSource(
    {
      name: 'listings:comments',
      path: '/r/all/comments',
      endpoint: 'listing-comments',
      intervalMs: 400,
      latencyShare: 1,
    },
    {
      upstream: {
        get: async (path, params, { lane }) => {
          calls.push({ path, params, lane });
          return forum.answer();
        },
        post: () => Promise.reject(new Error('the crawler never posts')),
        perSecond: () => 10,
        stop: () => Promise.resolve(),
      },
      pace: new Pace(() => 10),
      metrics,
      logger: silentLogger(),
      clock: () => forum.now,
      recordGap: (gap) => gaps.push(gap),
    },
  );
  const call = (): Call => {
    const step = source.next(forum.now);
    if ('waitMs' in step) throw new Error(`the source waits ${step.waitMs} ms`);
    return step;
  };
  const read = async (answer: unknown): Promise<Fetched> => {
    forum.answer = () => answer;
    const fetched = await call().fetch(signal);
    fetched.acknowledged();
    return fetched;
  };
  return { source, forum, calls, gaps, metrics, call, read };
}

describe('ListingSource', () => {
  test('reads a hole, records it as a gap when the listing ends, and resumes above it', async () => {
    const { source, forum, calls, gaps, metrics, read } = start();
    await source.begin(undefined);
    await read(listing(numbers(1000), 901));
    forum.now += 400;
    await read(listing(numbers(5000), 4901));
    expect(await counted(metrics, 'crawler_overflows_total')).toBe(1);
    expect(gaps).toEqual([]);
    await read(listing(numbers(4903, 50), null));
    expect(calls.at(-1)?.params).toEqual({ limit: '100', after: 't1_4904' });
    const bounds = { afterThing: 't1_1000', afterAt: START + 1_000_000, beforeThing: 't1_4854' };
    expect(gaps).toEqual([
      { source: 'listings:comments', reason: 'listing_too_short', ...bounds, beforeAt: START + 4_903_000 },
    ]);
    expect(await counted(metrics, 'crawler_gaps_total', { source: 'listings:comments' })).toBe(1);
    await source.begin(JSON.parse(JSON.stringify(source.position())));
    forum.now += 400;
    const fetched = await read(listing(numbers(5020), 4921));
    expect(fetched.things).toHaveLength(100);
    expect(gaps).toHaveLength(1);
  });

  test('does not move before the acknowledgement, and asks again after a failure', async () => {
    const { source, forum, call, read } = start();
    await source.begin(undefined);
    await read(listing(numbers(1000), 901));
    const before = source.position();
    forum.now += 400;
    forum.answer = () => listing(numbers(1060), 961);
    const failing = call();
    await failing.fetch(signal);
    failing.failed(new UpstreamError('broken', 'no answer'));
    expect(source.position()).toEqual(before);
    forum.now += 400;
    await read(listing(numbers(1070), 971));
    expect(source.position()).toMatchObject({ newestAt: START + 1_070_000 });
  });
});
