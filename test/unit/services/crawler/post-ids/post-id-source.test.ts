import { expect, test } from 'vitest';
import { Pace } from '../../../../../services/crawler/pace.ts';
import { POST_IDS, PostIdSource } from '../../../../../services/crawler/post-ids/post-id-source.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

test('a post of unknown shape in the listing that tells the newest id is kept for a dead letter', async () => {
  const odd = { kind: 't3', data: { id: 'odd', name: 't3_odd', created_utc: 'yesterday' } };
  const body = { kind: 'Listing', data: { after: null, children: [odd] } };
  const source = new PostIdSource(POST_IDS, {
    upstream: {
      get: () => Promise.resolve(body),
      post: () => Promise.reject(new Error('not asked for')),
      perSecond: () => 1,
      stop: () => Promise.resolve(),
    },
    pace: new Pace(() => 1),
    metrics: createMetrics(),
    logger: silentLogger(),
    clock: () => 1_000,
    recordGap: () => undefined,
    closeGap: () => undefined,
  });
  const call = source.next(1_000);
  if ('waitMs' in call) throw new Error('the source waits');
  const fetched = await call.fetch(new AbortController().signal);
  expect(fetched.unreadable).toMatchObject([{ name: 't3_odd', raw: odd }]);
});
