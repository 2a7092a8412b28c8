/**
 * `npm run --silent bench -- accounts [--seconds N] [--rate N]`: what authentication, limits and the charge add to a request: a cached post
 * at an even rate over 50 accounts, with all of it and, in the same process, without. On embedded Postgres, or on TEST_POSTGRES_URL.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import type { Report } from './main.ts';
import type { AccountsAddresses, AccountsJob } from './support-accounts-child.ts';
import { percentiles } from './support-percentiles.ts';
import { openPostgres } from './support-postgres-engine.ts';

const ACCOUNTS = 50;
const ROUNDS = 3;

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { seconds: { type: 'string', default: '10' }, rate: { type: 'string', default: '200' } },
  });
  const engine = await openPostgres();
  const child = fork(join(import.meta.dirname, 'support-accounts-child.ts'));
  try {
    child.send({ postgresUrl: engine.url, accounts: ACCOUNTS } satisfies AccountsJob);
    const [at] = (await once(child, 'message')) as [AccountsAddresses];
    const load = { keys: at.keys, perSecond: Number(values.rate), seconds: Number(values.seconds) };
    await run(at.whole, { ...load, seconds: 2 });
    await run(at.bare, { ...load, seconds: 2 });
    const all: Record<'bare' | 'whole', number[]> = { bare: [], whole: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of ['bare', 'whole'] as const) {
        const latencies = await run(at[name], load);
        all[name].push(...latencies);
        report({ case: name, requests: latencies.length, per_second: load.perSecond, ...inMs(latencies) });
      }
    }
    const [bare, whole] = [percentiles(all.bare), percentiles(all.whole)];
    report({
      case: 'added',
      requests: all.whole.length,
      p50_ms: difference(whole.p50, bare.p50),
      p99_ms: difference(whole.p99, bare.p99),
    });
  } finally {
    child.kill('SIGKILL');
    await engine.stop();
  }
}

interface Load {
  keys: readonly string[];
  perSecond: number;
  seconds: number;
}

/** Sends at an even rate, whether answers come or not; a latency counts from the moment at which the request was due. */
async function run(url: string, { keys, perSecond, seconds }: Load): Promise<number[]> {
  const pool = new Pool(url, { connections: 64 });
  const latencies: number[] = [];
  const ask = async (number: number, due: number): Promise<void> => {
    const headers = { authorization: `Bearer ${keys[number % keys.length]!}` };
    const response = await pool.request({ path: '/v1/forum/post?id=bench1', method: 'GET', headers });
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}: ${await response.body.text()}`);
    await response.body.dump({ limit: Infinity });
    latencies.push(performance.now() - due);
  };
  const begun = performance.now();
  const sent: Promise<void>[] = [];
  while (sent.length < perSecond * seconds) {
    const due = begun + (sent.length * 1_000) / perSecond;
    if (due <= performance.now()) sent.push(ask(sent.length, due));
    else await wait(1);
  }
  await Promise.all(sent);
  await pool.close();
  return latencies;
}

function inMs(latencies: number[]): object {
  const { p50, p90, p99, max } = percentiles(latencies);
  return { p50_ms: p50, p90_ms: p90, p99_ms: p99, max_ms: max };
}

function difference(more: number | null, less: number | null): number {
  return Number(((more ?? 0) - (less ?? 0)).toFixed(1));
}
