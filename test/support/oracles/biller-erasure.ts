import { advanceErasures } from '../../../services/biller/erase-accounts.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

/** One round of erasures. Kafka and ClickHouse are unreachable, because no round gets that far. */
export function eraseInPostgres(pool: Pool, mayContinue = () => true): Promise<void> {
  const logger = silentLogger();
  return advanceErasures({
    pool,
    kafka: createKafka({ brokers: ['127.0.0.1:9'], clientId: 'test', logger }),
    prefix: '',
    clickhouse: createClickhouse('http://127.0.0.1:9', 'test'),
    logger,
    mayContinue: () => Promise.resolve(mayContinue()),
  });
}

/** Stores matches with two attempts each for some monitors, and rows in every other table. */
export async function fillMonitors(db: Queryable, monitorIds: readonly string[], matches: number): Promise<void> {
  await db.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT id, n, 't1_x' || n, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'pending', 'delivered'
     FROM unnest($1::text[]) AS id, generate_series(1, $2::integer) AS n`,
    [monitorIds, matches],
  );
  await db.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status)
     SELECT id, n, a, service_now(), 1, 'generic', 'h', 200, 'delivered'
     FROM unnest($1::text[]) AS id, generate_series(1, $2::integer) AS n, generate_series(1, 2) AS a`,
    [monitorIds, matches],
  );
  await db.query(
    `INSERT INTO monitor_days (monitor_id, day, matches) SELECT id, '2026-01-01', 1 FROM unnest($1::text[]) AS id`,
    [monitorIds],
  );
  await db.query('INSERT INTO monitor_health (monitor_id, failures) SELECT id, 1 FROM unnest($1::text[]) AS id', [
    monitorIds,
  ]);
  await db.query(
    `INSERT INTO monitor_mutes (id, monitor_id, kind, value) SELECT 'mute_' || id, id, 'author', 'ana' FROM unnest($1::text[]) AS id`,
    [monitorIds],
  );
  await db.query(
    `INSERT INTO match_marks (monitor_id, seq, mark) SELECT id, 1, 'bookmarked' FROM unnest($1::text[]) AS id`,
    [monitorIds],
  );
  await db.query('INSERT INTO match_positions (monitor_id, read_seq) SELECT id, 1 FROM unnest($1::text[]) AS id', [
    monitorIds,
  ]);
  await db.query(
    'INSERT INTO feed_tokens (monitor_id, token_hash) SELECT id, sha256(id::bytea) FROM unnest($1::text[]) AS id',
    [monitorIds],
  );
  await db.query(
    `INSERT INTO monitor_threads (day, monitor_id, post_id)
     SELECT day, id, 'abc' FROM unnest($1::text[]) AS id, unnest('{2026-01-01,2026-01-03}'::date[]) AS day`,
    [monitorIds],
  );
  await db.query(
    `INSERT INTO backfills (id, monitor_id, account_id, version, rule, from_at, to_at, deliver)
     SELECT 'bf_' || id, id, 'acc_x', 1, '{}', service_now(), service_now(), false FROM unnest($1::text[]) AS id`,
    [monitorIds],
  );
  await db.query(
    `INSERT INTO monitor_digests (monitor_id, after_seq, period, due_at)
     SELECT id, 0, 'hourly', service_now() FROM unnest($1::text[]) AS id`,
    [monitorIds],
  );
  await db.query(
    `INSERT INTO match_mails (monitor_id, account_id, after_seq, until_seq)
     SELECT id, 'acc_x', 0, 0 FROM unnest($1::text[]) AS id`,
    [monitorIds],
  );
  await db.query(
    `INSERT INTO monitor_events (id, monitor_id, kind, key, payload)
     SELECT 'evt_' || id, id, 'monitor.spike', 'k', '{}' FROM unnest($1::text[]) AS id`,
    [monitorIds],
  );
  await db.query('UPDATE monitor_counters SET last_seq = $2 WHERE monitor_id = ANY ($1)', [monitorIds, matches]);
}

/** The number of rows of each table that belong to monitors. */
export async function rowsOfMonitors(db: Queryable, monitorIds: readonly string[]): Promise<Record<string, number>> {
  const tables = [
    'matches',
    'delivery_attempts',
    'monitor_days',
    'monitor_versions',
    'monitor_states',
    'monitor_health',
    'monitor_mutes',
    'match_marks',
    'match_positions',
    'feed_tokens',
    'monitor_threads',
    'backfills',
    'monitor_digests',
    'match_mails',
    'monitor_events',
    'monitor_counters',
  ];
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const { rows } = await db.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE monitor_id = ANY ($1)`, [
      monitorIds,
    ]);
    counts[table] = rows[0]!.n;
  }
  const { rows } = await db.query<{ n: number }>('SELECT count(*) AS n FROM monitors WHERE id = ANY ($1)', [
    monitorIds,
  ]);
  return { ...counts, monitors: rows[0]!.n };
}
