/**
 * `npm run --silent bench -- dashboard [--requests N]`: how long each page of the dashboard takes for an account with
 * 100 monitors, of which one has 10,000 matches with attempts, and how many bytes the first visit loads. Baseline:
 * /healthz. Client and server share a process and a connection, so the times include the client's, and so does the
 * processor time (`cpu_ms`, the mean of a request), which other load on the machine changes less. Runs on embedded
 * Postgres, or on TEST_POSTGRES_URL; there is no ClickHouse.
 */
import { parseArgs } from 'node:util';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Report } from '../main.ts';
import { fillTables, thingsFor } from '../shared/filled-matches.ts';
import { openPostgres } from '../shared/postgres-engine.ts';

const MONITORS = 100;
const MATCHES = 10_000;
const DAYS = 14;
/** A session may ask for 60 pages a minute. */
const PER_SESSION = 50;

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { requests: { type: 'string', default: '200' } } });
  const engine = await openPostgres();
  try {
    const database = await createTestDatabase(engine.url);
    try {
      const monitorIds = await insertMonitors(database.pool, MONITORS, { pack: 79 });
      await fill(database, monitorIds);
      await measure(report, database.pool, { monitorId: monitorIds[0]!, requests: Number(values.requests) });
    } finally {
      await database.drop();
    }
  } finally {
    await engine.stop();
  }
}

async function fill({ url, pool }: { url: string; pool: Pool }, [watched, ...others]: string[]): Promise<void> {
  const groups = [
    { monitorIds: [watched!], matches: MATCHES },
    { monitorIds: others, matches: 10 },
  ];
  const things = thingsFor(MATCHES * 2, MATCHES);
  await fillTables(url, { groups, things, oldestDays: DAYS, newestDays: 0, attempts: true });
  await pool.query(
    `INSERT INTO monitor_days (monitor_id, day, matches, suppressed)
     SELECT monitor_id, (created_at AT TIME ZONE 'UTC')::date, count(*), 0 FROM matches GROUP BY 1, 2`,
  );
}

async function measure(
  report: Report,
  pool: Pool,
  { monitorId, requests }: { monitorId: string; requests: number },
): Promise<void> {
  const { rows } = await pool.query<{ account: string }>('SELECT account_id AS account FROM monitors WHERE id = $1', [
    monitorId,
  ]);
  const { account } = rows[0]!;
  const api = await startTestApi(pool);
  try {
    await timeOf(report, '/healthz', requests, async () => ({
      get: async () => (await (await fetch(`${api.url}/healthz`)).text()).length,
    }));
    const one = `/monitors/${monitorId}`;
    for (const path of ['', '/monitors', '/monitors/new', one, '/keys', '/programs', '/billing', '/account']) {
      const page = path.replace(monitorId, 'ID');
      await timeOf(report, `/dashboard${page}`, requests, async () => {
        const person = await visitDashboard(pool, api.url, account);
        return {
          async get() {
            const { status, html } = await person.get(path);
            if (status !== 200) throw new Error(`${path} answered ${status}: ${html.slice(0, 2_000)}`);
            return Buffer.byteLength(html);
          },
        };
      });
    }
    const person = await visitDashboard(pool, api.url, account);
    report({ what: 'first visit, with style sheet and script', bytes: await firstVisit(api.url, person.cookie) });
  } finally {
    await api.stop();
  }
}

/** Asks one after the other. @param begin makes a new session */
async function timeOf(
  report: Report,
  page: string,
  requests: number,
  begin: () => Promise<{ get: () => Promise<number> }>,
): Promise<void> {
  const times: number[] = [];
  let bytes = 0;
  let session = await begin();
  // The first requests compile code and fill caches of statements.
  for (let warm = 0; warm < 5; warm++) await session.get();
  const before = process.cpuUsage();
  for (let asked = 0; asked < requests; asked++) {
    if (asked % PER_SESSION === 0) session = await begin();
    const begun = performance.now();
    bytes = await session.get();
    times.push(performance.now() - begun);
  }
  const { user, system } = process.cpuUsage(before);
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.ceil(times.length * share) - 1]! * 10) / 10;
  const cpuMs = Math.round((user + system) / requests / 100) / 10;
  report({ page, requests, ms: { p50: at(0.5), p95: at(0.95), max: at(1) }, cpu_ms: cpuMs, bytes });
}

/** All bytes that a browser without a cache loads for the first page. */
async function firstVisit(url: string, cookie: string): Promise<number> {
  const load = async (path: string) => (await fetch(url + path, { headers: { cookie } })).text();
  const html = await load('/dashboard');
  const assets = [...html.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  if (assets.length < 2) throw new Error('the page names no style sheet and script');
  const texts = [html, ...(await Promise.all(assets.map(load)))];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
