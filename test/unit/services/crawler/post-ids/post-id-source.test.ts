import { expect, test } from 'vitest';
import { Pace } from '../../../../../services/crawler/pace.ts';
import { idToNumber, numberToId } from '../../../../../services/crawler/post-ids/walked-ids.ts';
import { POST_IDS, PostIdSource } from '../../../../../services/crawler/post-ids/post-id-source.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import type { CrawlGap, GapClosing } from '../../../../../shared/crawl/crawl-gaps.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);
const id = (n: number) => numberToId(BigInt(n));

interface Forum {
  now: number;
  /** The answer for the newest posts, and for posts by their bare ids. */
  newest: () => unknown[];
  byId: (ids: readonly string[]) => unknown[];
}

/** A source whose answers and clock the test sets. */
function start(forum: Forum) {
  const gaps: CrawlGap[] = [];
  const closings: GapClosing[] = [];
  const source = new PostIdSource(POST_IDS, {
    upstream: {
      get: async (path, params) => {
        const ids = params.id?.split(',').map((name) => name.slice(3));
        const children = path === '/api/info' ? forum.byId(ids ?? []) : forum.newest();
        return { kind: 'Listing', data: { after: null, children } };
      },
      post: () => Promise.reject(new Error('not asked for')),
      perSecond: () => 1,
      stop: () => Promise.resolve(),
    },
    pace: new Pace(() => 1),
    metrics: createMetrics(),
    logger: silentLogger(),
    clock: () => forum.now,
    recordGap: (gap) => gaps.push(gap),
    closeGap: (closing) => closings.push(closing),
  });
  const call = async () => {
    const step = source.next(forum.now);
    if ('waitMs' in step) throw new Error('the source waits');
    const fetched = await step.fetch(new AbortController().signal);
    fetched.acknowledged();
    return fetched;
  };
  return { source, gaps, closings, call };
}

function post(postId: string, createdAt: number): unknown {
  const data = { id: postId, author: 'a', subreddit: 'tea', title: 't', selftext: '', over_18: false, score: 1 };
  return { kind: 't3', data: { ...data, permalink: '/r/tea', created_utc: createdAt / 1_000 } };
}

test('what is given up after a stop that is too long to catch up with is dated like the stop', async () => {
  const HEAD = 3_000_000;
  const newestAt = START - 40 * HOUR;
  const createdAt = (postId: string) => START - (HEAD - Number(idToNumber(postId))) * 50;
  const { source, gaps, closings, call } = start({
    now: START,
    newest: () => Array.from({ length: 100 }, (_, index) => post(id(HEAD - index), createdAt(id(HEAD - index)))),
    byId: (ids) => ids.map((postId) => post(postId, createdAt(postId))),
  });
  await source.begin({ next: id(1_000), stretches: [], missing: [], newestAt });
  await call();
  await call();
  const skipped = { afterThing: `t3_${id(1_000)}`, beforeThing: `t3_${id(HEAD - 99)}` };
  const givenUpTo = `t3_${id(HEAD - 99 - 2_000_000)}`;
  const dates = { afterAt: newestAt, beforeAt: START - 99 * 50 };
  expect(gaps).toEqual([
    { source: 'post-ids', reason: 'skipped', ...skipped, ...dates },
    { source: 'post-ids', reason: 'stretch_given_up', ...skipped, beforeThing: givenUpTo, ...dates },
  ]);
  expect(closings).toEqual([{ beforeThing: givenUpTo, found: 0, outcome: 'given_up' }]);
});

test('what the listing shows is published, but only answers for ids tell that the walk goes on', async () => {
  const newest = Array.from({ length: 100 }, (_, index) => post(id(1_100 - index), START));
  const reply = { id: 'reply', author: 'a', subreddit: 'tea', body: 'x', parent_id: 't3_1', link_id: 't3_1', score: 1 };
  const other = { kind: 't1', data: { ...reply, created_utc: START / 1_000 } };
  const forum: Forum = { now: START, newest: () => [...newest, other], byId: () => newest };
  const { source, call } = start(forum);
  await source.begin(undefined);
  expect((await call()).things.map(({ data }) => data.id)).toEqual(newest.map((_, index) => id(1_100 - index)));
  expect(source.position()).toMatchObject({ walkedAt: null });
  await call();
  expect(source.position()).toMatchObject({ walkedAt: START });
  // Six seconds later the listing is asked again, which is answered while calls for ids fail.
  forum.now += 6_000;
  expect((await call()).things).toHaveLength(100);
  forum.byId = () => {
    throw new Error('broken');
  };
  await expect(call()).rejects.toThrow('broken');
  expect(source.position()).toMatchObject({ walkedAt: START });
  const saved = source.position();
  await source.begin(saved);
  expect(source.position()).toEqual(saved);
});
