import pg from 'pg';
import type { Pool } from '../../../shared/postgres/pool.ts';

/** A group of monitors that have the same number of matches. */
export interface FilledGroup {
  monitorIds: string[];
  matches: number;
}

export interface FilledTables {
  groups: FilledGroup[];
  /** The number of matched things; greater than the number of matches of any monitor. */
  things: number;
  /** When the first and the last match were recorded, in days ago. */
  oldestDays: number;
  newestDays: number;
  /** Whether each match has an attempt. */
  attempts: boolean;
}

const SLICES = 100;
const BODY = 'Iron, water and air make rust; oil and paint keep it away. '.repeat(6);
const TABLES = ['matches', 'delivery_attempts', 'matched_items'];

/**
 * Fills the tables as the recorder and the deliverer would over that time: rows are stored in order of time, not of
 * monitors. Drops the indexes first and creates them again at the end. Reports its progress on stderr.
 */
export async function fillTables(url: string, filled: FilledTables): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'; SET synchronous_commit = off`);
    const indexes = await dropIndexes(client);
    await insertItems(client, filled);
    for (let slice = 0; slice < SLICES; slice += 1) {
      for (const statement of statementsOf(filled)) await client.query(statement, rowsOf(filled, slice));
      if (slice % 10 === 9) console.error(`filled ${slice + 1} %`);
    }
    for (const statement of indexes) await client.query(statement);
    console.error('indexes are made');
    for (const { monitorIds, matches } of filled.groups) {
      await client.query('UPDATE monitor_counters SET last_seq = $2 WHERE monitor_id = ANY ($1)', [
        monitorIds,
        matches,
      ]);
    }
    for (const table of TABLES) await client.query(`VACUUM (ANALYZE) ${table}`);
    await client.query('CHECKPOINT');
    console.error('filled');
  } finally {
    await client.end();
  }
}

/** Drops indexes and keys. Returns the statements that create them again. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(
    `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE conrelid::regclass::text = ANY ($1) AND contype IN ('p', 'u')`,
    [TABLES],
  );
  for (const { table, name } of keys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
     FROM pg_index WHERE indrelid::regclass::text = ANY ($1)`,
    [TABLES],
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  return [
    ...keys.map(({ table, name, definition }) => `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`),
    ...indexes.map(({ definition }) => definition),
  ];
}

async function insertItems(client: pg.Client, { things, newestDays }: FilledTables): Promise<void> {
  await client.query(
    `INSERT INTO matched_items (thing_id, kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
     SELECT 't1_' || n, 'comment', 'p' || n % 1000, 't3_p', 'metals', 'smith', 'On rust', $2, 'https://forum.example/r/metals/' || n, false,
       (SELECT service_now()), (SELECT service_now()) + make_interval(days => 33 - $3::int)
     FROM generate_series(0, $1::int - 1) AS n`,
    [things, BODY, newestDays],
  );
}

/** $1, $2: monitors and their numbers of matches; $3, $4: index and number of slices; $5, $6: days; $7: things. */
const ROWS = `
  SELECT id, seq, (SELECT service_now()) - make_interval(secs => 86400 * ($5::float8 - ($5::float8 - $6::float8) * seq / matches::double precision)) AS at,
    't1_' || (seq * 7919 + place * 31) % $7::bigint AS thing_id
  FROM unnest($1::text[], $2::int[]) WITH ORDINALITY AS monitors (id, matches, place),
    generate_series(matches::bigint * $3::int / $4::int + 1, matches::bigint * ($3::int + 1) / $4::int) AS seq
  ORDER BY at`;

const MATCHES = `
  INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed, first_delivery,
    delivery_status, attempt, delivered_at)
  SELECT id, seq, thing_id, 'comment', at, at, at, '{rust}', false, 'pending', 'delivered', 1, at FROM (${ROWS}) AS made`;

const ATTEMPTS = `
  INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, delivery_status, published_at)
  SELECT id, seq, 1, at, 20, 'generic', 'hooks.example.com', 204, 'delivered', at FROM (${ROWS}) AS made`;

function statementsOf({ attempts }: FilledTables): string[] {
  return attempts ? [MATCHES, ATTEMPTS] : [MATCHES];
}

function rowsOf({ groups, things, oldestDays, newestDays }: FilledTables, slice: number): unknown[] {
  const ids = groups.flatMap(({ monitorIds }) => monitorIds);
  const counts = groups.flatMap(({ monitorIds, matches }) => monitorIds.map(() => matches));
  return [ids, counts, slice, SLICES, oldestDays, newestDays, things];
}

/**
 * The number of things for `rows` matches, of which no monitor has more than `maxPerMonitor`. It is odd, so that no
 * pair of monitor and thing occurs twice.
 */
export function thingsFor(rows: number, maxPerMonitor: number): number {
  const things = Math.max(Math.floor(rows / 10), maxPerMonitor * 2) | 1;
  return things % 7919 === 0 ? things + 2 : things;
}

/** Bytes of the database. */
export async function databaseSize(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
  return rows[0]!.bytes;
}
