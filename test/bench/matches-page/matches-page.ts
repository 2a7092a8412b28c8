/**
 * `npm run --silent bench -- matches-page [--rows N] [--seconds N]`: pages of 100 matches of a monitor with 30,000
 * matches among N (default 10 million), oldest and newest first, from random cursors, in the store and over HTTP, and
 * polls over HTTP without new matches; alone, and while a recorder inserts 500 matches a second and the sweep deletes
 * the older half of the other matches. Baselines: `SELECT 1` and /healthz. One client sends a request of each kind in
 * turn. Runs on embedded Postgres, or on TEST_POSTGRES_URL.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool as HttpPool } from 'undici';
import { readMatchPage } from '../../../services/api/monitors/match-page.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { databaseSize, fillTables, thingsFor } from '../shared/filled-matches.ts';
import type { ApiAddress, MatchesPageJob, WritersOutcome } from './matches-page-child.ts';
import { percentiles } from '../shared/percentiles.ts';
import { openPostgres } from '../shared/postgres-engine.ts';

const MATCHES = 30_000;
const OTHERS = 2_000;
const PAGE = 100;
const WRITES_PER_SECOND = 500;

/** Each sends one request and returns a function that throws if the answer is wrong. */
type Kinds = Record<string, () => Promise<() => void>>;

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rows: { type: 'string', default: '10000000' }, seconds: { type: 'string', default: '30' } },
  });
  const engine = await openPostgres();
  try {
    const database = await createTestDatabase(engine.url);
    try {
      await measure(report, database, { rows: Number(values.rows), seconds: Number(values.seconds) });
    } finally {
      await database.drop();
    }
  } finally {
    await engine.stop();
  }
}

async function measure(report: Report, database: TestDatabase, size: { rows: number; seconds: number }): Promise<void> {
  const { url: databaseUrl } = database;
  const [monitorId] = (await insertMonitors(database.pool, 1)) as [string];
  const others = await insertMonitors(database.pool, OTHERS, { webhookUrl: 'https://example.com/', pack: 79 });
  await fill(report, database, { monitorId, others, rows: size.rows });
  const pool = createPool({ url: databaseUrl, name: 'bench', logger: silentLogger(), max: 10 });
  const api = startChild({ what: 'api', databaseUrl, monitorId });
  try {
    const address = await answerOf<ApiAddress>(api);
    const http = new HttpPool(address.url, { connections: 16 });
    const kinds = { ...storeKinds(pool, monitorId), ...httpKinds(http, address.key, monitorId) };
    await askAll(kinds, 5);
    const say = (load: string, latencies: Map<string, number[]>) => {
      for (const [kind, of] of latencies) report({ what: kind, load, asked: of.length, ms: inMs(of) });
    };
    say('none', await askAll(kinds, size.seconds));
    const job = { monitorIds: others, perSecond: WRITES_PER_SECOND, seconds: size.seconds + 2 };
    const writers = startChild({ what: 'writers', databaseUrl, ...job });
    const outcome = answerOf<WritersOutcome>(writers);
    await wait(1_000);
    say('recorder and sweep', await askAll(kinds, size.seconds));
    report({ what: 'writers', inserted_per_s: WRITES_PER_SECOND, ...(await outcome) });
    writers.kill('SIGKILL');
    await http.close();
  } finally {
    api.kill('SIGKILL');
    await pool.end();
  }
}

async function fill(
  report: Report,
  { url, pool }: TestDatabase,
  given: { monitorId: string; others: string[]; rows: number },
): Promise<void> {
  const begun = performance.now();
  const each = Math.max(1, Math.ceil((given.rows - MATCHES) / OTHERS));
  const groups = [
    { monitorIds: [given.monitorId], matches: MATCHES },
    { monitorIds: given.others, matches: each },
  ];
  const things = thingsFor(given.rows, Math.max(MATCHES, each));
  await fillTables(url, { groups, things, oldestDays: 60, newestDays: 0, attempts: false });
  // Its pages do not change while the sweep runs.
  await pool.query('UPDATE matches SET created_at = service_now() WHERE monitor_id = $1', [given.monitorId]);
  await pool.query('VACUUM (ANALYZE) matches');
  const gigabytes = Math.round((await databaseSize(pool)) / 1e8) / 10;
  report({
    what: 'fill',
    matches: MATCHES + OTHERS * each,
    seconds: Math.round((performance.now() - begun) / 1_000),
    gigabytes,
  });
}

function startChild(job: MatchesPageJob): ChildProcess {
  const child = fork(join(import.meta.dirname, 'matches-page-child.ts'));
  child.send(job);
  return child;
}

/** @throws Error when the child ends without one */
async function answerOf<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the child ended with ${String(code)}`);
  });
  const [answer] = (await Promise.race([once(child, 'message'), ended])) as [T];
  // It is killed later.
  ended.catch(() => undefined);
  return answer;
}

function storeKinds(pool: Pool, monitorId: string): Kinds {
  const page = async (order: 'oldest' | 'newest') => {
    const { items } = await readMatchPage(pool, { monitorId, order, seq: randomSeq(), limit: PAGE });
    return () => {
      expectItems(items, PAGE);
    };
  };
  return {
    'SELECT 1': async () => {
      await pool.query('SELECT 1');
      return () => undefined;
    },
    'store, oldest first': () => page('oldest'),
    'store, newest first': () => page('newest'),
  };
}

function httpKinds(http: HttpPool, key: string, monitorId: string): Kinds {
  const get = async (path: string) => {
    const { statusCode, body } = await http.request({
      path,
      method: 'GET',
      headers: { authorization: `Bearer ${key}` },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`);
    return text;
  };
  const page = async (query: string, expected: number) => {
    const text = await get(`/v1/monitors/${monitorId}/matches?limit=${PAGE}&${query}`);
    return () => {
      expectItems((JSON.parse(text) as { items: object[] }).items, expected);
    };
  };
  return {
    'HTTP /healthz': async () => {
      await get('/healthz');
      return () => undefined;
    },
    'HTTP, oldest first': () => page(`order=oldest&after=${matchId(monitorId, randomSeq())}`, PAGE),
    'HTTP, newest first': () => page(`order=newest&before=${matchId(monitorId, randomSeq())}`, PAGE),
    'HTTP, nothing new': () => page(`order=oldest&after=${matchId(monitorId, MATCHES)}`, 0),
  };
}

function expectItems(items: readonly object[], expected: number): void {
  if (items.length !== expected) throw new Error(`a page of ${items.length}`);
}

/** A cursor with a whole page on either side. */
function randomSeq(): number {
  return PAGE + 1 + Math.floor(Math.random() * (MATCHES - 2 * PAGE - 1));
}

/** Sends requests of each kind in turn, one after another. */
async function askAll(kinds: Kinds, seconds: number): Promise<Map<string, number[]>> {
  const entries = Object.entries(kinds);
  const latencies = new Map(entries.map(([kind]) => [kind, [] as number[]]));
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    for (const [kind, ask] of entries) {
      const sentAt = performance.now();
      const check = await ask();
      latencies.get(kind)!.push(performance.now() - sentAt);
      check();
    }
  }
  return latencies;
}

function inMs(latencies: number[]): object {
  const { p50, p90, p99, max } = percentiles(latencies);
  return { p50, p90, p99, max };
}
