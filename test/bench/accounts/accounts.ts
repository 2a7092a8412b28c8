/**
 * `npm run --silent bench -- accounts [--seconds N] [--rate N]`: what authentication, limits and the charge add to a
 * request: a cached post at an even rate over 50 accounts, with all of them and, in the same process, without.
 * Baseline: one bare commit at that rate, because a charge is answered when it is on disk. Runs on embedded Postgres,
 * or on TEST_POSTGRES_URL.
 */
import { Pool } from 'undici';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import type { Report } from '../main.ts';
import { compareCachedPost } from '../shared/cached-post.ts';
import { difference } from '../shared/even-load.ts';
import type { Server } from '../shared/even-load.ts';

export default function bench(report: Report, args: string[]): Promise<void> {
  return compareCachedPost(report, args, {
    rate: '200',
    createServers: (urls, postgresUrl) => ({
      bare: httpServer(urls.bare, urls.keys),
      whole: httpServer(urls.whole, urls.keys),
      commit: database(postgresUrl),
    }),
    conclude({ bare, whole }, say) {
      say({ case: 'added', p50_ms: difference(whole.p50, bare.p50), p99_ms: difference(whole.p99, bare.p99) });
    },
  });
}

function httpServer(url: string, keys: readonly string[]): Server {
  const pool = new Pool(url, { connections: 64 });
  return {
    async ask(number) {
      const headers = { authorization: `Bearer ${keys[number % keys.length]!}` };
      const response = await pool.request({ path: '/v1/forum/post?id=bench1', method: 'GET', headers });
      if (response.statusCode !== 200) {
        throw new Error(`answered ${response.statusCode}: ${await response.body.text()}`);
      }
      await response.body.dump({ limit: Infinity });
    },
    close: () => pool.close(),
  };
}

/** One row and its commit per call, on the same server and disk. */
function database(url: string): Server {
  const pool = createPool({ url, name: 'bench', logger: createLogger('silent'), max: 10 });
  const table = pool.query('CREATE TABLE IF NOT EXISTS bench_commits (number integer)');
  return {
    async ask(number) {
      await table;
      await pool.query({ name: 'commit', text: 'INSERT INTO bench_commits VALUES ($1)', values: [number] });
    },
    close: () => pool.end(),
  };
}
