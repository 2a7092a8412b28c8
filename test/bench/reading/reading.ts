/**
 * `npm run --silent bench -- reading [--seconds N] [--connections N] [--only CASE]`: a cached post with 200 comments
 * over HTTP, authenticated and charged, compared with a bare Express route that sends the same bytes; the same at an
 * even rate, plain and compressed; a thread of 2,000 comments from the forum's JSON to the answer; memory during a scan
 * of 100,000 posts. Runs on embedded Postgres, or on TEST_POSTGRES_URL.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { Pool } from 'undici';
import { buildCommentTree, buildDiscussionGraph } from '../../../services/api/reading/comment-tree.ts';
import { parseThread } from '../../../shared/forum-client/parse-comment-tree.ts';
import { toPost } from '../../../shared/forum-client/forum-resources.ts';
import type { Report } from '../main.ts';
import { run } from '../shared/even-load.ts';
import { percentiles } from '../shared/percentiles.ts';
import { openPostgres } from '../shared/postgres-engine.ts';
import type { ReadingAddresses, ReadingJob, ScanJob, ScanMeasurement } from './reading-child.ts';
import { threadOf } from './reading-thread.ts';

const COMMENTS = 200;
const EVEN_RATE = 100;
const DECODERS: Record<string, (body: Buffer) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
};
const LARGE_THREAD = 2_000;
const SCAN: ScanJob = { posts: 100_000, memoryBytes: 64 * 2 ** 20 };

export default async function bench(report: Report, args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const options = { seconds: text('10'), connections: text('16'), only: { type: 'string' } } as const;
  const { values } = parseArgs({ args, options });
  const connections = Number(values.connections);
  const isWanted = (name: string) => values.only === undefined || values.only === name;
  if (isWanted('mapping')) report({ case: 'mapping', ...mapLargeThread() });
  if (isWanted('scan')) {
    const scanned = await inChild<ScanMeasurement>(SCAN, ({ answer }) => Promise.resolve(answer));
    report({ case: 'scan', limit_mb: SCAN.memoryBytes / 2 ** 20, ...rounded(scanned) });
  }
  const engine = await openPostgres();
  try {
    const job: ReadingJob = { postgresUrl: engine.url, comments: COMMENTS, accounts: connections };
    await inChild<ReadingAddresses>(job, async ({ answer: addresses }) => {
      const durationMs = Number(values.seconds) * 1000;
      for (const [server, url] of [
        ['bare express', addresses.bareUrl],
        ['reading', addresses.apiUrl],
        ['bare express', addresses.bareUrl],
        ['reading', addresses.apiUrl],
      ] as const) {
        report({
          case: 'cached post',
          server,
          comments: COMMENTS,
          bytes: addresses.bytes,
          ...(await load(url, addresses.keys, durationMs)),
        });
      }
      if (!isWanted('cached post, even rate')) return;
      for (const measured of await evenLoad(addresses, durationMs))
        report({ case: 'cached post, even rate', ...measured });
    });
  } finally {
    await engine.stop();
  }
}

/** The best of several runs in milliseconds: from parsed JSON to the response, including tree and graph. */
function mapLargeThread(): object {
  const text = JSON.stringify(threadOf('large1', LARGE_THREAD));
  const ms: number[] = [];
  for (let run = 0; run < 12; run++) {
    const answer: unknown = JSON.parse(text);
    const begun = performance.now();
    const { post, comments, stubs } = parseThread(answer);
    const tree = buildCommentTree({ comments, stubs, missing: [] }, LARGE_THREAD);
    if (tree.returned !== LARGE_THREAD) throw new Error(`${tree.returned} of ${LARGE_THREAD} comments came through`);
    const mapped = toPost(post, { siteUrl: 'https://www.reddit.com', now: 0 });
    buildDiscussionGraph(mapped, tree.comments);
    ms.push(performance.now() - begun);
  }
  return { comments: LARGE_THREAD, first_ms: rounded({ ms: ms[0]! }).ms, best_ms: rounded({ ms: Math.min(...ms) }).ms };
}

/** Each connection sends the next request as soon as it has the answer. */
async function load(url: string, keys: readonly string[], durationMs: number): Promise<object> {
  const pool = new Pool(url, { connections: keys.length });
  const ask = async (key: string): Promise<void> => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await pool.request({ path: '/v1/forum/post?id=bench1', method: 'GET', headers });
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}: ${await response.body.text()}`);
    await response.body.dump({ limit: Infinity });
  };
  const latencies: number[] = [];
  const run = async (until: number, key: string): Promise<void> => {
    while (performance.now() < until) {
      const begun = performance.now();
      await ask(key);
      latencies.push(performance.now() - begun);
    }
  };
  const all = (ms: number) => Promise.all(keys.map((key) => run(performance.now() + ms, key)));
  await all(1_500);
  latencies.length = 0;
  const begun = performance.now();
  await all(durationMs);
  const seconds = (performance.now() - begun) / 1000;
  await pool.close();
  const { p50, p99 } = percentiles(latencies);
  return {
    connections: keys.length,
    requests_per_s: Math.round(latencies.length / seconds),
    ...rounded({ p50_ms: p50 ?? 0, p99_ms: p99 ?? 0 }),
  };
}

/**
 * Requests at an even rate, whose answers are decompressed as a client would. Encodings take turns, so that whatever
 * else this machine does delays all of them alike.
 */
async function evenLoad({ apiUrl, keys }: ReadingAddresses, durationMs: number): Promise<object[]> {
  const pool = new Pool(apiUrl, { connections: keys.length });
  const encodings = ['identity', 'gzip', 'br'];
  const measured = new Map(encodings.map((encoding) => [encoding, { bytes: 0, latencies: [] as number[] }]));
  const ask = async (number: number): Promise<void> => {
    const encoding = encodings[number % encodings.length]!;
    const begun = performance.now();
    const headers = { authorization: `Bearer ${keys[number % keys.length]}`, 'accept-encoding': encoding };
    const response = await pool.request({ path: '/v1/forum/post?id=bench1', method: 'GET', headers });
    const body = Buffer.from(await response.body.arrayBuffer());
    const given = String(response.headers['content-encoding'] ?? 'identity');
    if (response.statusCode !== 200 || given !== encoding) throw new Error(`answered ${response.statusCode}, ${given}`);
    if (encoding !== 'identity') await DECODERS[encoding]!(body);
    const of = measured.get(encoding)!;
    of.bytes = body.length;
    of.latencies.push(performance.now() - begun);
  };
  const server = { ask, close: () => pool.close() };
  await run(server, { perSecond: EVEN_RATE, seconds: 2 });
  for (const { latencies } of measured.values()) latencies.length = 0;
  await run(server, { perSecond: EVEN_RATE, seconds: (2 * durationMs) / 1000 });
  await server.close();
  return [...measured].map(([encoding, { bytes, latencies }]) => {
    const { p50, p99 } = percentiles(latencies);
    return { encoding, requests_per_s: EVEN_RATE, bytes, ...rounded({ p50_ms: p50 ?? 0, p99_ms: p99 ?? 0 }) };
  });
}

async function inChild<A>(job: ReadingJob | ScanJob, use: (child: { answer: A }) => Promise<unknown>): Promise<A> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'reading-child.ts'), {
    execArgv: ['--expose-gc'],
  });
  try {
    child.send(job);
    const [answer] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('the process under test ended'))),
    ])) as [A];
    await use({ answer });
    return answer;
  } finally {
    child.kill('SIGKILL');
  }
}

function rounded<T extends object>(values: T): T {
  const entries = Object.entries(values).map(([name, value]) => [name, Number((value as number).toFixed(2))]);
  return Object.fromEntries(entries) as T;
}
