import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FORUM_COMMENTS, MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { findArchivedComment, findNewestComments } from '../../../shared/stores/matches/archived-comments.ts';
import { DAY, MINUTE, SUCCESS, attemptOf, iso } from '../../support/samples/analyst-rows.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { commentItem } from '../../support/samples/forum-items.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

describe('in Postgres', () => {
  let db: TestDatabase;
  beforeEach(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => db.drop());

  function sweep(): Promise<void> {
    const { signal } = new AbortController();
    return sweepRetention({
      pool: db.pool,
      metrics: createMetrics(),
      signal,
      mayContinue: () => Promise.resolve(true),
    });
  }

  async function record(monitorId: string, thingId: string): Promise<void> {
    const { matches } = await recordBatch({ pool: db.pool, toleranceMs: 0 }, [candidateOf({ monitorId, thingId })]);
    expect(matches).toHaveLength(1);
  }

  async function addAttempt(monitorId: string, seq: number, attempt: number): Promise<void> {
    await db.pool.query(
      `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
       VALUES ($1, $2, $3, service_now(), 1, 'generic', 'h', 200, 'delivered')`,
      [monitorId, seq, attempt],
    );
  }

  async function seqs(table: 'matches' | 'delivery_attempts', monitorId: string): Promise<number[]> {
    const { rows } = await db.pool.query<{ seq: number }>(
      `SELECT seq FROM ${table} WHERE monitor_id = $1 ORDER BY seq`,
      [monitorId],
    );
    return rows.map(({ seq }) => seq);
  }

  test('a match and its attempts are kept for exactly 30 days and deleted a millisecond later', async () => {
    const [id] = (await insertMonitors(db.pool, 1)) as [string];
    await db.freeze();
    for (const thingId of ['t1_a', 't1_b']) {
      await record(id, thingId);
      await db.freeze('1 millisecond');
    }
    await addAttempt(id, 1, 1);
    await addAttempt(id, 2, 1);
    // Now two milliseconds after the first and one after the second.
    await db.freeze('30 days -2 milliseconds');
    await sweep();
    expect([await seqs('matches', id), await seqs('delivery_attempts', id)]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    await db.freeze('1 millisecond');
    await sweep();
    expect([await seqs('matches', id), await seqs('delivery_attempts', id)]).toEqual([[2], [2]]);
    await db.freeze('1 millisecond');
    await sweep();
    expect([await seqs('matches', id), await seqs('delivery_attempts', id)]).toEqual([[], []]);
  });

  test('a day count is deleted 30 days after the end of its day', async () => {
    const [id] = (await insertMonitors(db.pool, 1)) as [string];
    await db.pool.query(`UPDATE service_clock SET frozen_at = '2031-03-31T00:00:00Z'`);
    await db.pool.query(
      `INSERT INTO monitor_days (monitor_id, day, matches)
       SELECT $1, day, 1 FROM unnest('{2031-02-28, 2031-03-01, 2031-03-02}'::date[]) AS day`,
      [id],
    );
    const days = async () => {
      const { rows } = await db.pool.query<{ day: string }>('SELECT day::text FROM monitor_days ORDER BY day');
      return rows.map(({ day }) => day);
    };
    await sweep();
    expect(await days()).toEqual(['2031-03-01', '2031-03-02']);
    await db.freeze('23:59:59.999');
    await sweep();
    expect(await days()).toEqual(['2031-03-01', '2031-03-02']);
    await db.freeze('1 millisecond');
    await sweep();
    expect(await days()).toEqual(['2031-03-02']);
  });
});

describe('in ClickHouse', () => {
  const TABLES = ['items', 'matches', 'delivery_attempts'];
  let pipeline: Pipeline;
  beforeEach(async () => {
    pipeline = await Pipeline.create();
  });
  afterEach(() => pipeline.drop());

  async function ids(query: string): Promise<unknown[]> {
    const result = await pipeline.clickhouse.query({ query, format: 'JSONEachRow' });
    return (await result.json<{ id: unknown }>()).map(({ id }) => id);
  }

  const stored = () => Promise.all(TABLES.map((table) => ids(`SELECT count() AS id FROM ${table} FINAL`)));

  async function publish(topic: string, key: string, value: object): Promise<void> {
    await pipeline.kafka.publisher.publish(topic, [{ key, value: JSON.stringify(value) }]);
  }

  /** Stores a thing with its match and an attempt, all received at the given time. */
  async function publishAll(number: number, at: number): Promise<void> {
    const time = iso(at);
    const item = { ...commentItem(number, 'rust never sleeps'), created_utc: time, first_seen_at: time };
    const { v: _v, source: _s, replay: _r, first_seen_at, score: _p, num_comments: _n, url: _u, ...content } = item;
    const match = { monitor_id: `mon_${'0'.repeat(11)}${number}`, seq: 1, match_id: `match ${number}` };
    const more = { matched_terms: ['rust'], suppressed: false, first_delivery: 'pending', first_seen_at };
    const recorded = { v: 1, ...match, ...more, entered_at: time, created_at: time, item: content };
    const made = attemptOf(match, { host: `h${number}`, attempt: 1, startedAt: at, durationMs: 5, ...SUCCESS });
    await publish(FORUM_COMMENTS.name, item.thing_id, item);
    await publish(MONITOR_MATCHES.name, match.monitor_id, recorded);
    await publish(MONITOR_DELIVERIES.name, match.monitor_id, made);
  }

  test('rows received over 30 days ago are hidden at once, even before a merge, and deleted with their part', async () => {
    for (const table of TABLES) await pipeline.clickhouse.command({ query: `SYSTEM STOP MERGES ${table}` });
    await pipeline.start('archiver');
    const border = Date.now() - 30 * DAY;
    await publishAll(1, border - 1_000);
    await publishAll(2, border + 10 * MINUTE);
    await publishAll(3, Date.now() - MINUTE);
    await eventually('all is archived', async () => (await stored()).join() === '3,3,3');

    expect(await ids('SELECT thing_id AS id FROM matches_with_items ORDER BY id')).toEqual(['t1_2', 't1_3']);
    expect(await ids('SELECT body AS id FROM matches_with_items')).toEqual(Array(2).fill('rust never sleeps'));
    expect(await ids('SELECT sum(matches) AS id FROM matches_per_day_and_term')).toEqual([2]);
    expect(await ids('SELECT host AS id FROM delivery_latency ORDER BY id')).toEqual(['h2', 'h3']);
    const all = { subreddit: undefined, since: undefined, after: undefined };
    const search = { ...all, words: ['rust'], now: Date.now(), limit: 10 };
    const found = await findNewestComments(pipeline.clickhouse, search);
    expect(found.map(({ thingId: id }) => id)).toEqual(['t1_3', 't1_2']);
    expect(await findArchivedComment(pipeline.clickhouse, 't1_1')).toBeUndefined();
    expect(await findArchivedComment(pipeline.clickhouse, 't1_2')).toMatchObject({ thingId: 't1_2' });

    for (const table of TABLES) {
      await pipeline.clickhouse.command({ query: `SYSTEM START MERGES ${table}` });
      await pipeline.clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
    }
    expect(await stored()).toEqual([[2], [2], [2]]);
    expect(await ids('SELECT thing_id AS id FROM items ORDER BY id')).toEqual(['t1_2', 't1_3']);
  });
});
