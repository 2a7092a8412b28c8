import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CoverageRollup } from '../../../services/crawler/coverage/coverage-rollup.ts';
import { startCoverage } from '../../../services/crawler/coverage/start-coverage.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { readCoverageHours, saveAuditSamples, saveCoverageHours } from '../../../shared/crawl/crawl-coverage.ts';
import { lagQuantiles } from '../../../shared/crawl/rules/coverage.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
import type { TestArchive } from '../../support/fixtures/test-clickhouse.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Half past some hour of today, so that the archive's retention does not matter. */
const NOW = Math.floor(Date.now() / HOUR) * HOUR - 5 * HOUR + 30 * MINUTE;

const CURRENT = NOW - 30 * MINUTE;
let db: TestDatabase;
let archive: TestArchive;
let clickhouse: ClickHouseClient;
let rollup: CoverageRollup;

/** The rate that the forum allows. */
let allowed: number | undefined;

beforeAll(async () => {
  db = await createTestDatabase();
  archive = await createTestArchive(db.pool);
  clickhouse = archive.client;
});

beforeEach(async () => {
  await db.pool.query('TRUNCATE coverage_hours, crawl_gaps, crawl_cursors, removed_things, audit_samples');
  for (const table of ['items', 'thread_items', 'item_sightings', 'coverage_hours']) {
    await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
  }
  allowed = undefined;
  rollup = new CoverageRollup({ db: db.pool, clickhouse, allowedPerSecond: () => allowed });
});

afterAll(async () => {
  await archive.drop();
  await db.drop();
});

interface Row {
  thing: string;
  source?: string;
  seenAt: number;
  lag?: number;
  ver?: number;
}

/** Archives items that were created `lag` before they were seen. */
async function archiveItems(rows: readonly Row[]): Promise<void> {
  const values = rows.map(({ thing, source = 'listings', seenAt, lag = 2 * SECOND, ver = 1 }) => ({
    thing_id: thing,
    kind: thing.startsWith('t3_') ? 'post' : 'comment',
    source,
    created_utc: new Date(seenAt - lag).toISOString(),
    first_seen_at: new Date(seenAt).toISOString(),
    ver,
  }));
  await clickhouse.insert({ table: 'items', values, format: 'JSONEachRow' });
}

const countedRows = async () =>
  (await (await clickhouse.query({ query: 'SELECT count() AS n FROM coverage_hours' })).json<{ n: number }>()).data[0]!
    .n;

test('items count once, in the hour and for the source of their first sight', async () => {
  await archiveItems([
    { thing: 't1_0', seenAt: CURRENT - 20 * MINUTE },
    { thing: 't3_a', seenAt: CURRENT + MINUTE },
    { thing: 't1_a', seenAt: CURRENT + MINUTE },
    // Seen again by another source, blanked since, and seen again after an hour had begun.
    { thing: 't1_a', source: 'threads', seenAt: CURRENT + 2 * MINUTE },
    { thing: 't1_a', seenAt: CURRENT + MINUTE, ver: 2 },
    { thing: 't1_b', source: 'threads', seenAt: CURRENT - SECOND },
    { thing: 't1_b', seenAt: CURRENT + SECOND },
    // Late, not late, and of a dump file.
    { thing: 't1_c', source: 'threads', seenAt: CURRENT + MINUTE, lag: 120_001 },
    { thing: 't1_d', seenAt: CURRENT + MINUTE, lag: 120_000 },
    { thing: 't1_e', source: 'replay', seenAt: CURRENT + MINUTE, lag: 900 * 24 * HOUR },
    // Dated in the future.
    { thing: 't1_f', seenAt: CURRENT + MINUTE, lag: -10 * SECOND },
  ]);
  const [current, previous] = await rollup.pass(NOW, 2);
  expect(current!.coverage).toMatchObject({
    seen: {
      listings: { posts: 1, comments: 3 },
      threads: { posts: 0, comments: 1 },
      replay: { posts: 0, comments: 1 },
    },
    late: 1,
  });
  expect(previous!.coverage).toMatchObject({
    seen: { threads: { posts: 0, comments: 1 }, listings: { comments: 1 } },
    late: 0,
  });
  const quantiles = lagQuantiles(current!.coverage.lags, [0, 0.5, 1])!;
  expect(quantiles[0]).toBeCloseTo(0.1, 2);
  expect(Math.abs(quantiles[1]! - 2)).toBeLessThan(0.05);
  expect(Math.abs(quantiles[2]! - 120)).toBeLessThan(2.5);
});

test('what was created before the first start counts as seen, but neither as late nor in the lags', async () => {
  await archiveItems([
    { thing: 't1_backlog', seenAt: CURRENT + MINUTE, lag: 20 * MINUTE },
    { thing: 't1_new', seenAt: CURRENT + 10 * MINUTE, lag: 2 * SECOND },
    { thing: 't1_late', seenAt: CURRENT + 10 * MINUTE, lag: 3 * MINUTE },
  ]);
  const [first] = await rollup.pass(NOW, 1);
  expect(first!.coverage).toMatchObject({ seen: { listings: { posts: 0, comments: 3 } }, late: 1 });
  expect(Object.values(first!.coverage.lags)).toEqual([1, 1]);
  // A row of an earlier hour: the service ran before, and stood still.
  const coverage = first!.coverage;
  const earlier = { hour: new Date(CURRENT - 30 * HOUR), archivedRows: 0, coverage, callsPerSecond: null };
  await saveCoverageHours(db.pool, [earlier]);
  await archiveItems([{ thing: 't1_more', seenAt: CURRENT + 11 * MINUTE }]);
  expect((await rollup.pass(NOW, 1))[0]!.coverage.late).toBe(2);
});

test('hours in which the forum only failed or a dump file was replayed are not the first start', async () => {
  const coverage = { late: 0, lags: {}, tombstones: 0, posts: null, comments: null };
  const hours = [{}, { replay: { posts: 0, comments: 5 } }].map((seen, index) => ({
    hour: new Date(CURRENT - (10 - index) * HOUR),
    archivedRows: 5 * index,
    coverage: { ...coverage, seen },
    callsPerSecond: null,
  }));
  await saveCoverageHours(db.pool, hours);
  await archiveItems([{ thing: 't1_backlog', seenAt: CURRENT + MINUTE, lag: 20 * MINUTE }]);
  expect((await rollup.pass(NOW, 1))[0]!.coverage.late).toBe(0);
});

test('an hour that is archived late is computed anew; one that did not change is not stored again', async () => {
  await archiveItems([{ thing: 't1_a', seenAt: CURRENT + MINUTE }]);
  await rollup.pass(NOW, 4);
  const stored = await countedRows();
  await rollup.pass(NOW, 4);
  expect(await countedRows()).toBe(stored);
  // What the archiver missed three hours ago, while ClickHouse was unavailable.
  await archiveItems([{ thing: 't1_b', seenAt: CURRENT - 3 * HOUR + MINUTE }]);
  await rollup.pass(NOW, 2);
  expect(await countedRows()).toBe(stored);
  const covered = await rollup.pass(NOW, 4);
  expect(covered.at(-1)!.coverage.seen).toEqual({ listings: { posts: 0, comments: 1 } });
  expect(await countedRows()).toBe(stored + 1);
  const hours = await readCoverageHours(db.pool, new Date(CURRENT - 3 * HOUR), new Date(CURRENT + HOUR));
  expect(
    hours.map(({ archivedRows }) => archivedRows),
    'hours before the first start are not stored',
  ).toEqual([1, 1]);
});

test('posts are complete by their ids while the walk over ids goes on; other hours keep what is known of them', async () => {
  await archiveItems([
    { thing: 't1_first', seenAt: CURRENT - 2 * HOUR },
    // Created in the previous hour, seen in this one.
    { thing: 't3_a', seenAt: CURRENT + MINUTE, lag: 10 * MINUTE },
    { thing: 't3_b', seenAt: CURRENT + MINUTE },
    { thing: 't3_b', source: 'post-ids', seenAt: CURRENT + MINUTE },
    { thing: 't3_c', source: 'replay', seenAt: CURRENT + MINUTE },
  ]);
  const postsOf = async () => (await rollup.pass(NOW, 2)).map(({ coverage }) => coverage.posts);
  expect(await postsOf(), 'nobody walks').toEqual([null, null]);
  const walk = (at: number) =>
    db.pool.query(
      `INSERT INTO crawl_cursors (source, position, updated_at) VALUES ('post-ids', '{}', $1)
       ON CONFLICT (source) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at`,
      [new Date(at)],
    );
  await walk(NOW - 6 * MINUTE);
  expect(await postsOf(), 'the walk stopped in this hour').toEqual([null, { found: 1, unread: 0 }]);
  for (const walkedAt of [NOW - 6 * MINUTE, null]) {
    await db.pool.query(
      `UPDATE crawl_cursors SET updated_at = $1, position = jsonb_build_object('walkedAt', $2::float8)`,
      [new Date(NOW), walkedAt],
    );
    expect(await postsOf(), 'only the listing is answered').toEqual([null, { found: 1, unread: 0 }]);
  }
  await walk(NOW);
  await db.pool.query(
    `INSERT INTO crawl_gaps (source, reason, after_thing, before_thing, after_at, before_at, opened_at)
     VALUES ('post-ids', 'outage', 't3_10', 't3_1b', $1, $2, $2), ('listings:new', 'overflow', 't3_10', 't3_1b', $1, $2, $2)`,
    [new Date(CURRENT - 5 * MINUTE), new Date(CURRENT + 5 * MINUTE)],
  );
  expect(await postsOf(), 'ten ids of two hours were not read').toEqual([
    { found: 1, unread: 5 },
    { found: 1, unread: 5 },
  ]);
  await db.pool.query(`UPDATE crawl_gaps SET outcome = 'filled', filled_at = opened_at`);
  expect(await postsOf(), 'they were read').toEqual([
    { found: 1, unread: 0 },
    { found: 1, unread: 0 },
  ]);
  await walk(CURRENT - 20 * MINUTE);
  expect(await postsOf(), 'the walk stopped').toEqual([
    { found: 1, unread: 0 },
    { found: 1, unread: 0 },
  ]);
});

test('an hour has its tombstones, its audit and the last rate that the forum allowed', async () => {
  await db.pool.query('INSERT INTO removed_things (thing_id, at) VALUES ($1, $3), ($2, $4)', [
    't1_a',
    't1_b',
    new Date(CURRENT + MINUTE),
    new Date(CURRENT - MINUTE),
  ]);
  await saveAuditSamples(db.pool, [
    { hour: new Date(CURRENT - HOUR), postId: 'a', weight: 10, seen: 9, total: 10 },
    { hour: new Date(CURRENT - HOUR), postId: 'b', weight: 2, seen: 1, total: 4 },
  ]);
  allowed = 6.5;
  const [current, previous] = await rollup.pass(NOW, 2);
  expect(current!.coverage).toMatchObject({ tombstones: 1, comments: null });
  expect(previous!.coverage).toMatchObject({ tombstones: 1, comments: { threads: 2, comments: 108 } });
  const { low, share, high } = previous!.coverage.comments!;
  expect(share).toBeCloseTo((10 * 9 + 2 * 1) / 108);
  expect(low).toBeLessThan(share);
  expect(high).toBeGreaterThan(share);
  allowed = undefined;
  await rollup.pass(NOW, 2);
  const stored = await readCoverageHours(db.pool, new Date(CURRENT - HOUR), new Date(CURRENT + HOUR));
  expect(stored.map(({ callsPerSecond }) => callsPerSecond)).toEqual([null, 6.5]);
});

describe('the process that computes', () => {
  function start(options: { metrics: Metrics; client?: ClickHouseClient; archiveReady?: Promise<boolean> }) {
    const errors: Error[] = [];
    const running = startCoverage({
      pool: db.pool,
      clickhouse: options.client ?? clickhouse,
      archiveReady: options.archiveReady ?? Promise.resolve(true),
      allowedPerSecond: () => undefined,
      metrics: options.metrics,
      logger: silentLogger(),
      clock: systemClock,
      intervalMs: 50,
      fatal: (error) => errors.push(error),
    });
    return { errors, stop: () => running.stop() };
  }

  const exported = async (metrics: Metrics, name: string) =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));

  test('one process computes and exports; when it stops, another takes over', async () => {
    const item = { thing_id: 't1_a', kind: 'comment', first_seen_at: new Date().toISOString() };
    await clickhouse.insert({ table: 'items', values: [item], format: 'JSONEachRow' });
    await db.pool.query(
      `INSERT INTO crawl_gaps (source, reason, opened_at) VALUES ('listings:new', 'x', service_now())`,
    );
    const hour = new Date(Math.floor(Date.now() / HOUR) * HOUR - HOUR);
    await saveAuditSamples(db.pool, [{ hour, postId: 'a', weight: 2, seen: 3, total: 4 }]);
    const [first, second] = [createMetrics(), createMetrics()];
    const leader = start({ metrics: first });
    const newestItem = 'crawler_newest_item_age_seconds';
    // The last of the metrics.
    await eventually('the first exports', async () => (await exported(first, newestItem)).length === 1);
    const follower = start({ metrics: second });
    expect(await exported(first, 'crawler_gaps_open')).toEqual(['crawler_gaps_open{source="listings:new"} 1']);
    expect((await exported(first, 'crawler_completeness')).toString()).toContain('kind="comments",bound="share"} 0.75');
    expect((await exported(first, 'crawler_missed_items')).toString()).toContain('kind="comments"');
    await leader.stop();
    await eventually('the second exports', async () => (await exported(second, newestItem)).length === 1);
    await follower.stop();
    const { rows } = await db.pool.query('SELECT hour FROM coverage_hours ORDER BY hour DESC');
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect((await db.pool.query('SELECT FROM leases')).rowCount, 'the lease is released').toBe(0);
    expect([...leader.errors, ...follower.errors]).toEqual([]);
  });

  test('it waits while ClickHouse is unavailable, and for the tables of the archive', async () => {
    const unavailable = start({
      metrics: createMetrics(),
      client: createClickhouse('http://127.0.0.1:9', 'unavailable'),
    });
    await eventually('the lease is taken', async () => (await db.pool.query('SELECT FROM leases')).rowCount === 1);
    await unavailable.stop();
    const unready = start({ metrics: createMetrics(), archiveReady: new Promise(() => undefined) });
    await unready.stop();
    expect([...unavailable.errors, ...unready.errors]).toEqual([]);
  });
});
