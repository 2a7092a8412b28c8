import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { FORUM_COMMENTS } from '../../../schemas/messages/topics.ts';
import { recordRemovals } from '../../../shared/crawl/crawl-cursors.ts';
import { storeItems } from '../../../shared/matches/recording.ts';
import { runAdminHere } from '../../support/children/admin-process.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { commentItem } from '../../support/samples/forum-items.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await Pipeline.create();
});
afterAll(() => pipeline.drop());

async function rows(query: string): Promise<unknown[]> {
  return (await pipeline.clickhouse.query({ query, format: 'JSONEachRow' })).json();
}

test('an empty archive gets what Kafka and Postgres hold, once, and nothing that was removed', async () => {
  const { publisher } = pipeline.kafka;
  const items = Array.from({ length: 300 }, (_, index) => commentItem(index, `rust ${index}`));
  await publisher.publish(
    FORUM_COMMENTS.name,
    items.map((item) => ({ key: item.thing_id, value: JSON.stringify(item) })),
  );
  await publisher.publish(FORUM_COMMENTS.name, [{ key: 't1_bad', value: 'no JSON' }]);
  // Postgres has a match of an item that Kafka has, of one that it has no longer, and of one that was removed since.
  const [old, removed] = [commentItem(1_000, 'old'), commentItem(1_001, 'removed')];
  const matched = [items[0]!, old, removed];
  const { pool } = pipeline.db;
  await storeItems(
    pool,
    matched.toSorted((a, b) => (a.thing_id < b.thing_id ? -1 : 1)),
  );
  await recordRemovals(pool, [removed.thing_id], [new Date().toISOString()]);
  for (const [index, { thing_id }] of matched.entries()) {
    await pool.query(
      `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
         suppressed, first_delivery, delivery_status)
       VALUES ('mon_a', $1, $2, 'comment', now(), now(), now(), '{rust}', false, 'pending', 'delivered')`,
      [index + 1, thing_id],
    );
  }
  await pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
       delivery_status)
     SELECT 'mon_a', seq, attempt, now(), 7, 'generic', 'example.com', 200, 'delivered'
       FROM generate_series(1, 3) AS seq, generate_series(1, 2) AS attempt`,
  );

  const rebuild = () =>
    runAdminHere(['archive', 'rebuild'], {
      KAFKA_BROKERS: inject('kafkaBrokers'),
      KAFKA_TOPIC_PREFIX: pipeline.kafka.prefix,
      DATABASE_URL: pipeline.db.url,
      CLICKHOUSE_URL: pipeline.clickhouseUrl,
    });
  const lines = (out: string) =>
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  const first = await rebuild();
  expect([first.code, lines(first.out)]).toEqual([
    0,
    [
      { from: 'kafka', items: 300 },
      { from: 'postgres', matches: 3, things: 2 },
      { from: 'postgres', attempts: 6 },
    ],
  ]);
  // Once more, as after an interruption.
  expect(lines((await rebuild()).out)[1]).toEqual({ from: 'postgres', matches: 3, things: 0 });

  expect(await rows("SELECT count() AS n, countIf(words != '') AS found FROM items FINAL")).toEqual([
    { n: 302, found: 301 },
  ]);
  const ids = `'${matched.map(({ thing_id }) => thing_id).join("','")}'`;
  expect(await rows(`SELECT body, source FROM items FINAL WHERE thing_id IN (${ids}) ORDER BY body DESC`)).toEqual([
    { body: items[0]!.body, source: items[0]!.source },
    { body: old.body, source: 'restored' },
    { body: '', source: 'restored' },
  ]);
  expect(await rows(`SELECT seq, thing_id, match_id FROM matches FINAL ORDER BY seq`)).toEqual(
    matched.map(({ thing_id }, index) => ({
      seq: index + 1,
      thing_id,
      match_id: `mat_a_${String(index + 1).padStart(12, '0')}`,
    })),
  );
  expect(await rows('SELECT count() AS n FROM delivery_attempts FINAL')).toEqual([{ n: 6 }]);
});
