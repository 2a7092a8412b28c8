import { expect, test } from 'vitest';
import { readCommentCounts } from '../../../../services/crawler/archive-source.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';
import type { Upstream } from '../../../../shared/upstream/upstream-client.ts';
import { silentLogger } from '../../../support/fixtures/silent-logger.ts';

test('a post of unknown shape is kept for a dead letter, and the counts of the others are read', async () => {
  const post = {
    subreddit: 'tea',
    author: 'a',
    title: 't',
    created_utc: 1,
    score: 1,
    permalink: '/r/tea',
    over_18: false,
  };
  const odd = { kind: 't3', data: { ...post, id: 'odd', name: 't3_odd', created_utc: 'yesterday' } };
  const good = { kind: 't3', data: { ...post, id: 'good', name: 't3_good', num_comments: 7 } };
  const body = { kind: 'Listing', data: { after: null, children: [odd, good] } };
  const upstream: Upstream = {
    get: () => Promise.resolve(body),
    post: () => Promise.reject(new Error('not asked for')),
    perSecond: () => 1,
    stop: () => Promise.resolve(),
  };
  const deps = { upstream, metrics: createMetrics(), logger: silentLogger(), lane: 'audit', label: 'audit' } as const;
  const { counts, unreadable } = await readCommentCounts(deps, ['odd', 'good'], new AbortController().signal);
  expect([...counts]).toEqual([['good', 7]]);
  expect(unreadable).toMatchObject([{ name: 't3_odd', raw: odd }]);
});
