import { expect, test } from 'vitest';
import { ForumSource } from '../../../../../services/api/reading/forum-source.ts';
import { PostReader } from '../../../../../services/api/reading/post-reader.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import type { Upstream, UpstreamCall } from '../../../../../shared/forum-client/upstream-client.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';
import { listingOf, nodeOf, POST } from '../../../../support/samples/upstream-samples.ts';

const STUB = { count: 2, children: ['c1', 'c2'], id: 'c1', name: 't1_c1', parent_id: POST.name, depth: 0 };
/** A post whose comments take a second call. */
const THREAD = [listingOf(nodeOf('t3', POST)), listingOf(nodeOf('more', STUB))];
const MILLION_BYTES = 1_000_000;

function createReader(upstream: Pick<Upstream, 'get' | 'post'>, clock = () => 0) {
  const deps = { clock, logger: silentLogger() };
  const source = new ForumSource({ ...deps, upstream, siteUrl: 'https://www.reddit.com', metrics: createMetrics() });
  const options = { ...deps, memoryBytes: MILLION_BYTES, disk: undefined };
  return { reader: new PostReader(options), source };
}

test('a request does not wait for comments that another one asked for', async () => {
  const asked = Promise.withResolvers<undefined>();
  const { reader, source } = createReader({
    get: () => Promise.resolve(THREAD),
    post: () => {
      asked.resolve(undefined);
      return new Promise<never>(() => undefined);
    },
  });
  const leave = new AbortController();
  const many = reader.read(source, { postId: POST.id, max: 2_000, signal: leave.signal });
  await asked.promise;
  const alone = await reader.read(source, { postId: POST.id, max: 0 });
  expect(alone.post.title).toBe(POST.title);
  leave.abort(new Error('left'));
  await expect(many).rejects.toThrow('left');
});

test('the calls of a request share a deadline, and a read that made all of them is a MISS', async () => {
  let now = 0;
  const deadlines: (number | undefined)[] = [];
  const { reader, source } = createReader(
    {
      get: (_path, _params, { deadlineMs }: UpstreamCall) => {
        deadlines.push(deadlineMs);
        now += 9_000;
        return Promise.resolve(THREAD);
      },
      post: (_path, _form, { deadlineMs }: UpstreamCall) => {
        deadlines.push(deadlineMs);
        return Promise.resolve({ json: { errors: [], data: { things: [] } } });
      },
    },
    () => now,
  );
  const { tier } = await reader.read(source, { postId: POST.id, max: 10 });
  expect(deadlines).toEqual([10_000, 1_000]);
  expect(tier).toBe('MISS');
});
