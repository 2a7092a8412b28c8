/**
 * `npm run --silent bench -- accounts [--seconds N] [--rate N]`: what authentication, limits and the charge add to a request: a cached post
 * at an even rate over 50 accounts, with all of it and, in the same process, without; beside them what one bare commit takes at that rate,
 * since a charge is answered when it is on disk. On embedded Postgres, or on TEST_POSTGRES_URL.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { createPool } from '../../shared/postgres/pool.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import type { Report } from './main.ts';
import { difference, inMs, run } from './support-even-load.ts';
import type { Load, Server } from './support-even-load.ts';
import type { AccountsAddresses, AccountsJob } from './support-accounts-child.ts';
import { percentiles } from './support-percentiles.ts';
import { openPostgres } from './support-postgres-engine.ts';

const ACCOUNTS = 50;
const ROUNDS = 3;
const COMMENTS = [20, 200];

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { seconds: { type: 'string', default: '10' }, rate: { type: 'string', default: '200' } },
  });
  const load = { perSecond: Number(values.rate), seconds: Number(values.seconds) };
  const engine = await openPostgres();
  try {
    for (const comments of COMMENTS) {
      await compare(engine.url, comments, load, (line) => {
        report({ comments, ...line });
      });
    }
  } finally {
    await engine.stop();
  }
}

async function compare(postgresUrl: string, comments: number, load: Load, report: Report): Promise<void> {
  const child = fork(join(import.meta.dirname, 'support-accounts-child.ts'));
  try {
    child.send({ postgresUrl, accounts: ACCOUNTS, comments } satisfies AccountsJob);
    const [at] = (await once(child, 'message')) as [AccountsAddresses];
    const servers = {
      bare: httpServer(at.bare, at.keys),
      whole: httpServer(at.whole, at.keys),
      commit: database(postgresUrl),
    };
    for (const server of Object.values(servers)) await run(server, { ...load, seconds: 2 });
    const all: Record<keyof typeof servers, number[]> = { bare: [], whole: [], commit: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of ['bare', 'whole', 'commit'] as const) all[name].push(...(await run(servers[name], load)));
    }
    for (const [name, latencies] of Object.entries(all)) {
      report({ case: name, requests: latencies.length, per_second: load.perSecond, ...inMs(latencies) });
    }
    const [bare, whole] = [percentiles(all.bare), percentiles(all.whole)];
    report({ case: 'added', p50_ms: difference(whole.p50, bare.p50), p99_ms: difference(whole.p99, bare.p99) });
    for (const server of Object.values(servers)) await server.close();
  } finally {
    child.kill('SIGKILL');
  }
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

/** One row and its commit a call, on the same server and disk. */
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
