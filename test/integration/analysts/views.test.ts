import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  FORUM_COMMENTS,
  FORUM_REMOVALS,
  MONITOR_DELIVERIES,
  MONITOR_MATCHES,
} from '../../../schemas/messages/topics.ts';
import { statementsOf } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import { EXPECTED, archivedContent, byKeys, keptMatches, lagSeconds } from '../../support/oracles/analyst-answers.ts';
import {
  HOUR,
  MINUTE,
  MONITORS,
  SUCCESS,
  attemptOf,
  iso,
  makePublishedRows,
  wire,
} from '../../support/samples/analyst-rows.ts';
import type { PublishedRows } from '../../support/samples/analyst-rows.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';

const SCHEMA = join(import.meta.dirname, '../../../schemas/clickhouse');
const QUERIES = [...readFileSync(join(SCHEMA, 'README.md'), 'utf8').matchAll(/```sql\n([^]*?)```/g)].map(
  ([, sql]) => sql!,
);

let pipeline: Pipeline;
let published: PublishedRows;
/** In the middle of a minute, so that no row is at a boundary of the queries while the test runs. */
const now = Math.floor(Date.now() / MINUTE) * MINUTE - 30_000;

const TABLES = ['items', 'matches', 'delivery_attempts'];

async function rows<T>(query: string): Promise<T[]> {
  const result = await pipeline.clickhouse.query({
    query,
    query_params: { monitor: MONITORS[0] },
    format: 'JSONEachRow',
  });
  return result.json<T>();
}

async function publish(topic: string, values: { key: string; value: object }[]): Promise<void> {
  const records = values.map(({ key, value }) => ({ key, value: JSON.stringify(value) }));
  await pipeline.kafka.publisher.publish(topic, records);
}

function keyed<T extends object>(values: readonly T[], key: (value: T) => string): { key: string; value: object }[] {
  return values.map((value) => ({ key: key(value), value }));
}

beforeAll(async () => {
  published = makePublishedRows(now);
  const { items, matches, attempts, removed } = published;
  pipeline = await Pipeline.create();
  await pipeline.start('archiver');
  // Insert every row twice, as after a crash, without merges. So each row exists twice and expired rows still exist.
  for (const table of TABLES) await pipeline.clickhouse.command({ query: `SYSTEM STOP MERGES ${table}` });
  for (const copies of [1, 2]) {
    await publish(
      FORUM_COMMENTS.name,
      keyed(items, ({ thing_id }) => thing_id),
    );
    await publish(
      MONITOR_MATCHES.name,
      keyed(matches, ({ monitor_id }) => monitor_id),
    );
    await publish(
      MONITOR_DELIVERIES.name,
      keyed(attempts, ({ monitor_id }) => monitor_id),
    );
    await eventually('everything is archived', async () => {
      const counts = TABLES.map((table) => `(SELECT count() FROM ${table})`);
      const [found] = await rows<{ n: number[] }>(`SELECT [${counts.join(', ')}] AS n`);
      const wanted = [items, matches, attempts].map(({ length }) => length * copies);
      if (found!.n.join() !== wanted.join()) throw new Error(JSON.stringify([found, wanted]));
      return true;
    });
  }
  for (const computedAt of [now - HOUR, now]) {
    // What was computed first is replaced: it has no comments.
    const values = published.coverage.map((row) => ({
      ...row,
      comments: computedAt === now ? row.comments : 0,
      computed_at: iso(computedAt),
    }));
    await pipeline.clickhouse.insert({ table: 'coverage_hours', values, format: 'JSONEachRow' });
  }
  // Each row has an older version.
  for (const version of [1, 2]) {
    const monitors = MONITORS.map((monitor_id, number) => ({
      monitor_id,
      name: version === 2 ? `monitor ${number}` : 'old',
      account_id: 'acc_1',
      created_at: iso(now - 40 * 24 * HOUR),
      version,
    }));
    await pipeline.clickhouse.insert({ table: 'monitors', values: monitors, format: 'JSONEachRow' });
    const gaps = published.gaps.map((gap) => ({ ...gap, found: version === 2 ? gap.found : 0, version }));
    await pipeline.clickhouse.insert({ table: 'crawl_gaps', values: gaps, format: 'JSONEachRow' });
  }
  const removal = { v: 1, thing_id: removed.item.thing_id, removed_at: iso(now) };
  await publish(FORUM_REMOVALS.name, [{ key: removal.thing_id, value: removal }]);
  await eventually('the removal is archived', async () => (await rows('SELECT 1 FROM items WHERE ver = 2')).length > 0);
});
afterAll(() => pipeline.drop());

test('the README contains the queries that these tests run', () => {
  expect(QUERIES).toHaveLength(Object.keys(EXPECTED).length);
});

test.each(Object.keys(EXPECTED).map((name, index) => ({ name, index })))(
  'the query about $name returns the published rows',
  async ({ name, index }) => {
    const found = await rows(QUERIES[index]!);
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(EXPECTED[name]!(published));
  },
);

test('matches_with_items shows each match of the last 30 days once, with blank text for removed items', async () => {
  const found = await rows<{ match_id: string; body: string; author: string; removed: number }>(
    'SELECT match_id, body, author, removed FROM matches_with_items ORDER BY match_id',
  );
  expect(keptMatches(published).length).toBeLessThan(published.matches.length);
  expect(found).toEqual(
    keptMatches(published)
      .sort(byKeys(({ match_id }) => match_id))
      .map((match) => ({
        match_id: match.match_id,
        ...archivedContent(published, match),
        removed: match === published.removed ? 1 : 0,
      })),
  );
});

test('matches_with_items ends with the source, lag and language of the item, and why the match was suppressed', async () => {
  const found = await rows<Record<string, unknown>>(
    'SELECT * FROM matches_with_items WHERE created_at > now() - INTERVAL 1 DAY ORDER BY match_id',
  );
  expect(Object.keys(found[0]!).slice(-5)).toEqual([
    'source',
    'lag_seconds',
    'language',
    'suppressed_reason',
    'backfill',
  ]);
  const items = new Map(published.items.map((item) => [item.thing_id, item]));
  expect(new Set(found.map(({ language }) => language))).toEqual(new Set(['', 'de', 'und']));
  expect(
    found.map((row) => [row.match_id, row.source, row.lag_seconds, row.language, row.suppressed_reason, row.backfill]),
  ).toEqual(
    published.matches
      .filter(({ created_at }) => Date.parse(created_at) > now - 24 * HOUR + MINUTE)
      .sort(byKeys(({ match_id }) => match_id))
      .map((match) => [
        match.match_id,
        items.get(match.item.thing_id)?.source ?? '',
        lagSeconds({ created_utc: match.item.created_utc, first_seen_at: match.first_seen_at }),
        items.get(match.item.thing_id)?.language ?? '',
        match.suppressed_reason ?? '',
        match.backfill ?? false,
      ]),
  );
});

test('items_with_lag shows each item once, without text when it was removed; items of dump files have no lag', async () => {
  const [counts] = await rows<{ items: number; removed: number }>(
    "SELECT count() AS items, countIf(removed AND body = '') AS removed FROM items_with_lag",
  );
  const kept = published.items.filter(({ first_seen_at }) => Date.parse(first_seen_at) > now - 30 * 24 * HOUR);
  expect(counts).toEqual({ items: kept.length, removed: 1 });
  const replayed = { thing_id: 't3_dump', kind: 'post', source: 'replay', created_utc: iso(now - 900 * 24 * HOUR) };
  const values = [
    { ...replayed, first_seen_at: iso(now - 40 * 24 * HOUR) },
    { ...replayed, first_seen_at: iso(now) },
  ];
  await pipeline.clickhouse.insert({ table: 'items', values, format: 'JSONEachRow' });
  expect(await rows(`SELECT thing_id, lag_seconds, late FROM items_with_lag WHERE source = 'replay'`)).toEqual([
    { thing_id: 't3_dump', lag_seconds: null, late: 0 },
  ]);
});

test('an endpoint that failed and has succeeded since keeps its last success; one that failed over a day ago is not listed', async () => {
  const insert = (host: string, hoursAgo: number, delivered: boolean, attempt: number) => {
    const outcome = delivered ? SUCCESS : { status: 0, error: 'timeout', delivery_status: 'pending' as const };
    const match = { ...published.removed, monitor_id: `mon_${host}` };
    const made = attemptOf(match, { host, attempt, startedAt: now - hoursAgo * HOUR, durationMs: 5, ...outcome });
    return { ...made, error: made.error ?? '', v: undefined };
  };
  const values = [
    insert('mixed', 1, true, 3),
    insert('mixed', 2, false, 2),
    insert('mixed', 3, true, 1),
    insert('mixed', 30, false, 4),
    insert('over', 25, false, 1),
    insert('long-ago', 1, false, 2),
    insert('long-ago', 29 * 24, true, 1),
  ];
  await pipeline.clickhouse.insert({ table: 'delivery_attempts', values, format: 'JSONEachRow' });
  const found = await rows(`SELECT host, attempts, failures, failure_share, last_error, last_failure_at, last_success_at
    FROM failing_endpoints WHERE host IN ('mixed', 'over', 'long-ago') ORDER BY host`);
  const at = (hoursAgo: number) => wire(iso(now - hoursAgo * HOUR));
  expect(found).toEqual([
    {
      host: 'long-ago',
      attempts: 1,
      failures: 1,
      failure_share: 1,
      last_error: 'timeout',
      last_failure_at: at(1),
      last_success_at: at(29 * 24),
    },
    {
      host: 'mixed',
      attempts: 3,
      failures: 1,
      failure_share: 1 / 3,
      last_error: 'timeout',
      last_failure_at: at(2),
      last_success_at: at(1),
    },
  ]);
});

test('the views can be created again at any time', async () => {
  const before = await rows('SELECT count() AS n FROM matches_with_items');
  for (const query of statementsOf(readFileSync(join(SCHEMA, '0008_names_and_comments.sql'), 'utf8'))) {
    await pipeline.clickhouse.command({ query });
  }
  expect(await rows('SELECT count() AS n FROM matches_with_items')).toEqual(before);
});
