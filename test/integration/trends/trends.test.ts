import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Latency, Timeseries } from '../../../schemas/api/trends.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { ageMonitor, archiveMatches } from '../../support/fixtures/archived-matches.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** In an hour that has ended. */
const AT = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;

const NOON = (Math.floor(Date.now() / DAY) - 2) * DAY + DAY / 2;

let db: TestDatabase;
let archive: TestArchive;
let proxy: TcpProxy;
let clickhouse: ClickHouseClient;
let api: TestApi;
let owner: TestAccount;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  proxy = await TcpProxy.start(archive.url);
  clickhouse = createClickhouse(proxy.url, 'test');
  api = await startTestApi(db.pool, { clickhouse });
  owner = await api.account({ credits: 1_000, pack: 79 });
});

afterAll(async () => {
  await api.stop();
  await clickhouse.close();
  await proxy.stop();
  await archive.drop();
  await db.drop();
});

async function series(id: string, query = ''): Promise<Timeseries> {
  const ask = () => api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/timeseries${query}`);
  let reply = await ask();
  // On a busy machine the archive may answer too late.
  for (let times = 0; reply.status === 503 && times < 5; times++) reply = await ask();
  expect(reply.status).toBe(200);
  expect(reply.headers.get('x-credits-used') ?? '0').toBe('0');
  return reply.body as unknown as Timeseries;
}

const rowsOf = ({ items }: Timeseries) =>
  items.map(({ at, keyword, subreddit, count }) => [(Date.parse(at) - AT) / HOUR, keyword, subreddit, count]);

describe('counts', () => {
  test('by hour, keyword and community, each match once for each of its terms', async () => {
    const { id } = await api.monitor(owner.apiKey, { keywords: ['rust', 'iron'] });
    const other = await api.monitor(owner.apiKey, {});
    const groups = [
      { monitorId: id, seq: 1, count: 3, seenAt: AT },
      { monitorId: id, seq: 4, count: 2, seenAt: AT + HOUR - 1, terms: ['rust', 'iron'], subreddit: 'cars' },
      { monitorId: id, seq: 6, count: 1, seenAt: AT - 3 * HOUR, terms: ['iron'], backfill: true },
      { monitorId: other.id, seq: 1, count: 50, seenAt: AT },
    ];
    await archiveMatches(clickhouse, groups);
    // Rows that were written twice count once.
    await archiveMatches(clickhouse, groups);
    expect(rowsOf(await series(id, '?interval=hour'))).toEqual([
      [-3, 'iron', 'metals', 1],
      [0, 'rust', 'metals', 3],
      [0, 'iron', 'cars', 2],
      [0, 'rust', 'cars', 2],
    ]);
    expect(rowsOf(await series(id, '?interval=hour&by=keyword'))).toEqual([
      [-3, 'iron', null, 1],
      [0, 'rust', null, 5],
      [0, 'iron', null, 2],
    ]);
    expect(rowsOf(await series(id, '?interval=hour&by=subreddit'))).toEqual([
      [-3, null, 'metals', 1],
      [0, null, 'metals', 3],
      [0, null, 'cars', 2],
    ]);
    const times = `from=${new Date(AT).toISOString()}&to=${new Date(AT + HOUR).toISOString()}`;
    const total = await series(id, `?interval=hour&by=total&${times}`);
    expect(rowsOf(total)).toEqual([[0, null, null, 5]]);
    expect(total).toMatchObject({ from: new Date(AT).toISOString(), to: new Date(AT + HOUR).toISOString() });
    const daily = await series(id, '?by=total');
    expect(daily.items.reduce((sum, { count }) => sum + count, 0)).toBe(6);
    expect(daily.items.every(({ at }) => at.endsWith('T00:00:00.000Z'))).toBe(true);
  });

  test('those beyond the 20 largest communities and keywords share items', async () => {
    const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
    await archiveMatches(
      clickhouse,
      Array.from({ length: 25 }, (_, at) => ({
        monitorId: id,
        seq: at * 10 + 1,
        count: at < 20 ? 2 : 1,
        seenAt: AT,
        subreddit: `sub${at}`,
        // The last ones have two terms without items of their own.
        terms: at < 20 ? [`term ${at}`] : [`term ${at}`, `term ${at + 100}`],
      })),
    );
    for (const by of ['subreddit', 'keyword']) {
      const rows = rowsOf(await series(id, `?interval=hour&by=${by}`));
      expect(rows).toHaveLength(21);
      expect(rows).toContainEqual([0, null, null, 5]);
    }
  });

  test('beyond 10,000 items the oldest intervals are left out, and can be asked for', async () => {
    const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
    const terms = Array.from({ length: 20 }, (_, at) => `term ${at}`);
    // 400 items an hour.
    await archiveMatches(
      clickhouse,
      Array.from({ length: 26 * 20 }, (_, at) => ({
        monitorId: id,
        seq: at + 1,
        count: 1,
        seenAt: AT - Math.floor(at / 20) * HOUR,
        subreddit: `sub${at % 20}`,
        terms,
      })),
    );
    const newest = await series(id, '?interval=hour');
    expect(newest).toMatchObject({ truncated: true, from: new Date(AT - 24 * HOUR).toISOString() });
    expect(newest.items).toHaveLength(10_000);
    const rest = await series(id, `?interval=hour&to=${newest.from}`);
    expect(rest).toMatchObject({ truncated: false, to: newest.from });
    expect(rest.items).toHaveLength(400);
  });
});

describe('spikes', () => {
  async function watched(days: number): Promise<string> {
    const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
    await ageMonitor(db.pool, id, days);
    const usual = Array.from({ length: 27 }, (_, at) => ({
      monitorId: id,
      seq: at * 10 + 1,
      count: 4,
      seenAt: AT - (at + 1) * DAY,
    }));
    await archiveMatches(clickhouse, [...usual, { monitorId: id, seq: 1_000, count: 30, seenAt: AT }]);
    return id;
  }

  test('an hour far above the same hour of the days before, in both intervals', async () => {
    const id = await watched(40);
    const expected = { at: new Date(AT).toISOString(), count: 30, median: 4, scale: 2, score: 13 };
    for (const query of ['?interval=hour', '?interval=day&by=total']) {
      const { spikes } = await series(id, query);
      expect(spikes).toMatchObject([expected]);
      expect(spikes[0]?.days).toBeGreaterThanOrEqual(27);
    }
    const before = `?interval=hour&to=${new Date(AT).toISOString()}`;
    expect((await series(id, before)).spikes).toEqual([]);
  });

  test('none before the monitor, or its rule, is 14 days old, nor when it was paused at that hour, nor by a backfill', async () => {
    expect((await series(await watched(13))).spikes).toEqual([]);
    const changed = await watched(40);
    await api.call(owner.apiKey, 'PATCH', `/v1/monitors/${changed}`, { keywords: ['rust', 'iron'] });
    await db.pool.query(
      `UPDATE monitor_versions SET since = since - interval '13 days' WHERE monitor_id = $1 AND version = 2`,
      [changed],
    );
    expect((await series(changed)).spikes).toEqual([]);
    const paused = await watched(40);
    await db.pool.query(
      `INSERT INTO monitor_states (monitor_id, at, status)
       VALUES ($1, now() - interval '27 days', 'paused'), ($1, now() - interval '12 days', 'active')`,
      [paused],
    );
    expect((await series(paused)).spikes).toEqual([]);
    const { id: filled } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
    await ageMonitor(db.pool, filled, 40);
    await archiveMatches(clickhouse, [{ monitorId: filled, seq: 1, count: 200, seenAt: AT, backfill: true }]);
    expect(await series(filled, '?by=total')).toMatchObject({ items: [{ count: 200 }], spikes: [] });
  });
});

async function latency(id: string, query = ''): Promise<Latency['items']> {
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/latency${query}`);
  expect(reply.status).toBe(200);
  return (reply.body as unknown as Latency).items;
}

interface Attempt {
  seq: number;
  attempt: number;
  /** Milliseconds after noon. */
  after: number;
  duration: number;
  status: number;
}

async function attempts(monitorId: string, made: readonly Attempt[]): Promise<void> {
  await clickhouse.insert({
    table: 'delivery_attempts',
    format: 'JSONEachRow',
    values: made.map(({ seq, attempt, after, duration, status }) => ({
      monitor_id: monitorId,
      seq,
      match_id: `mat_${seq}`,
      attempt,
      started_at: new Date(NOON + after).toISOString(),
      duration_ms: duration,
      webhook_kind: 'generic',
      host: 'example.com',
      status,
      error: status === 0 ? 'timeout' : '',
      delivery_status: status === 200 ? 'delivered' : 'pending',
    })),
  });
}

test('latency: each step by day, as quantiles', async () => {
  const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
  const slow = Array.from({ length: 10 }, (_, at) => ({
    monitorId: id,
    seq: at + 1,
    count: 1,
    seenAt: NOON,
    lagMs: (at + 1) * 1_000,
    recordedAfterMs: (at + 1) * 100,
  }));
  await archiveMatches(clickhouse, [
    ...slow,
    { monitorId: id, seq: 20, count: 1, seenAt: NOON - DAY, lagMs: 7_000, recordedAfterMs: 40 },
    { monitorId: id, seq: 30, count: 5, seenAt: NOON, lagMs: 999_000, recordedAfterMs: 999_000, backfill: true },
  ]);
  await attempts(id, [
    // Recorded at 100 ms; failed once, then delivered, then sent again.
    { seq: 1, attempt: 1, after: 300, duration: 0, status: 0 },
    { seq: 1, attempt: 2, after: 5_000, duration: 150, status: 200 },
    { seq: 1, attempt: 3, after: 60_000, duration: 50, status: 200 },
    // Of a backfill.
    { seq: 30, attempt: 1, after: 2_000_000, duration: 250, status: 200 },
  ]);
  const [newest, before, ...more] = await latency(id);
  expect([newest?.day, more]).toEqual([new Date(NOON).toISOString().slice(0, 10), []]);
  expect(newest).toMatchObject({
    created_to_seen_ms: { count: 10, p50: 6_000, p90: 10_000, p99: 10_000 },
    seen_to_recorded_ms: { count: 10, p50: 600, p90: 1_000, p99: 1_000 },
    recorded_to_delivered_ms: { count: 1, p50: 5_050, p90: 5_050, p99: 5_050 },
    receiver_ms: { count: 3, p50: 150, p90: 250, p99: 250 },
  });
  const one = (ms: number) => ({ count: 1, p50: ms, p90: ms, p99: ms });
  expect(before).toMatchObject({ created_to_seen_ms: one(7_000), seen_to_recorded_ms: one(40), receiver_ms: null });
  expect([await latency(id, '?days=2'), (await latency(id, '?days=3')).length]).toEqual([[], 1]);
});

test('latency: items of dump files say nothing about how fast things are seen', async () => {
  const { id } = await api.monitor(owner.apiKey, { keywords: ['rust'] });
  await archiveMatches(clickhouse, [{ monitorId: id, seq: 1, count: 3, seenAt: NOON, lagMs: 3_600_000 }]);
  const thing = (seq: number, source: string) => ({
    thing_id: `t1_${id.slice(4)}${seq}`,
    kind: 'comment',
    source,
    created_utc: new Date(NOON - 3_600_000).toISOString(),
    first_seen_at: new Date(NOON).toISOString(),
    ver: 1,
  });
  await clickhouse.insert({
    table: 'items',
    format: 'JSONEachRow',
    values: [thing(1, 'replay'), thing(2, 'replay'), thing(3, 'threads')],
  });
  const [day] = await latency(id);
  expect([day?.created_to_seen_ms?.count, day?.seen_to_recorded_ms?.count]).toEqual([1, 3]);
});

test('an archive that hangs is unavailable within seconds', async () => {
  const { id } = await api.monitor(owner.apiKey, {});
  proxy.freeze();
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/timeseries`);
  proxy.thaw();
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
});
