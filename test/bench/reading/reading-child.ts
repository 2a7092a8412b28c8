/**
 * The API over the simulator and PostgreSQL in a separate process, and a bare Express route that sends the same bytes.
 * It receives the URL of a database and replies with the addresses of both. On request it scans posts through the
 * caches.
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { PostReader } from '../../../services/api/reading/post-reader.ts';
import { RenderedPosts } from '../../../services/api/reading/rendered-posts.ts';
import { ForumSource } from '../../../services/api/reading/forum-source.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { threadOf } from './reading-thread.ts';

export interface ReadingJob {
  postgresUrl: string;
  /** The number of comments of the post. */
  comments: number;
  /** Several accounts read, so that they do not wait for each other's charges. */
  accounts: number;
}

export interface ReadingAddresses {
  apiUrl: string;
  bareUrl: string;
  keys: string[];
  bytes: number;
}

export interface ScanJob {
  posts: number;
  memoryBytes: number;
}

export interface ScanMeasurement {
  posts: number;
  cache_mb: number;
  entries: number;
  /** The heap after garbage collection. */
  heap_growth_mb: number;
  rss_mb: number;
  posts_per_s: number;
}

process.on('message', (job: ReadingJob | ScanJob) => {
  const done = 'posts' in job ? scan(job) : serve(job);
  void done.then((answer) => process.send!(answer));
});

async function serve({ postgresUrl, comments, accounts }: ReadingJob): Promise<ReadingAddresses> {
  const [db, forum] = await Promise.all([createTestDatabase(postgresUrl), startTestForum()]);
  const { forum: options } = forum;
  // One post only: the clock of the simulator is frozen, so a post that was read stays fresh.
  const upstream = { ...options.upstream, get: () => Promise.resolve(threadOf('bench1', comments)) };
  const api = await startTestApi(db.pool, { forum: { ...options, upstream } });
  const readers = await Promise.all(Array.from({ length: accounts }, () => api.account({ credits: 10_000_000 })));
  const path = '/v1/forum/post?id=bench1';
  const headers = { authorization: `Bearer ${readers[0]!.apiKey}` };
  await fetch(api.url + path, { headers });
  const bytes = Buffer.from(await (await fetch(api.url + path, { headers })).arrayBuffer());
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/v1/forum/post', (_request, response) => {
    response.type('application/json').send(bytes);
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const bareUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { apiUrl: api.url, bareUrl, keys: readers.map(({ apiKey }) => apiKey), bytes: bytes.length };
}

async function scan({ posts, memoryBytes }: ScanJob): Promise<ScanMeasurement> {
  const thread = JSON.stringify(threadOf('ID', 20));
  const upstream = {
    // A new answer for each post, as if it came over the network.
    get: (path: string) =>
      Promise.resolve(JSON.parse(thread.replaceAll('ID', path.slice('/comments/'.length))) as unknown),
    post: () => Promise.reject(new Error('nothing is left to be read')),
    perSecond: () => Infinity,
    stop: () => Promise.resolve(),
  };
  const deps = { clock: systemClock, logger: silentLogger() };
  const source = new ForumSource({ ...deps, upstream, siteUrl: 'https://www.reddit.com', metrics: createMetrics() });
  const reader = new PostReader({ ...deps, memoryBytes, disk: undefined });
  // The same size again in addition to the posts.
  const rendered = new RenderedPosts({ memoryBytes });
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  const begun = performance.now();
  for (let post = 0; post < posts; post++) {
    const read = await reader.read(source, { postId: `p${post.toString(36)}`, max: 200 });
    rendered.render(read, { format: 'json', limit: 200, commentId: undefined });
  }
  const seconds = (performance.now() - begun) / 1000;
  const { bytes, entries } = reader.memoryUse;
  const rss_mb = process.memoryUsage.rss() / 2 ** 20;
  globalThis.gc!();
  return {
    posts,
    cache_mb: bytes / 2 ** 20,
    entries,
    heap_growth_mb: (process.memoryUsage().heapUsed - before) / 2 ** 20,
    rss_mb,
    posts_per_s: posts / seconds,
  };
}
