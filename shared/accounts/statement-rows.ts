import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRows } from '../postgres/sql.ts';

/** Rows of one table. */
const MOST_ROWS = 5_000_000;
/** All files of a statement together: the folder is on the disk of the process. */
const MOST_BYTES = 256 * 2 ** 20;
/** ClickHouse's code for a result that is too large. */
const TOO_MANY_ROWS = '396';

/** The account has more rows than a statement may run on. */
export class TooManyRows extends Error {
  override name = 'TooManyRows';
}

interface SqlTable {
  name: string;
  columns: readonly string[];
  /** The rows of `{monitors}` in the last 30 days. */
  from: string;
}

const words = (text: string): string[] => text.trim().split(/\s+/);

/** The tables of a customer. */
export const SQL_TABLES: readonly SqlTable[] = [
  {
    name: 'matches',
    columns: words(`
      match_id monitor_id monitor_name seq kind thing_id subreddit matched_terms suppressed suppressed_reason backfill
      created_utc first_seen_at created_at post_id author title body url permalink nsfw score removed language`),
    from: `(
        SELECT * FROM matches FINAL
        WHERE monitor_id IN {monitors: Array(String)} AND created_at > now64(3) - INTERVAL 30 DAY
      ) AS m
      LEFT ANY JOIN (
        SELECT monitor_id, name AS monitor_name FROM monitors FINAL WHERE monitor_id IN {monitors: Array(String)}
      ) AS n USING monitor_id
      LEFT ANY JOIN (
        SELECT thing_id, post_id, author, title, body, url, permalink, nsfw, score, toBool(ver = 2) AS removed, language
        FROM items FINAL
        WHERE first_seen_at > now64(3) - INTERVAL 30 DAY AND thing_id IN (
          SELECT thing_id FROM matches
          WHERE monitor_id IN {monitors: Array(String)} AND created_at > now64(3) - INTERVAL 30 DAY
        )
      ) AS i USING thing_id`,
  },
  {
    name: 'deliveries',
    columns: words(`
      monitor_id seq match_id attempt started_at duration_ms webhook_kind host status error delivery_status
      next_attempt_at`),
    from: `delivery_attempts FINAL
      WHERE monitor_id IN {monitors: Array(String)} AND started_at > now64(3) - INTERVAL 30 DAY`,
  },
  {
    name: 'monitors',
    columns: ['monitor_id', 'name', 'created_at'],
    from: 'monitors FINAL WHERE monitor_id IN {monitors: Array(String)}',
  },
];

const SETTINGS = {
  max_execution_time: 20,
  max_memory_usage: String(2 ** 30),
  max_result_rows: String(MOST_ROWS),
  max_threads: 2,
  output_format_parquet_string_as_string: 1,
  output_format_parquet_enum_as_byte_array: 1,
  // A failure comes as an error, not as a part of the rows.
  wait_end_of_query: 1,
} as const;

/**
 * Writes the rows of an account to `TABLE.parquet` files, for a statement of the account to run on.
 *
 * @param folder a new one that nobody else reads
 * @param monitorIds the account's monitors that are not deleted
 * @throws TooManyRows, and the engine's error
 */
export async function writeAccountRows(
  clickhouse: ClickHouseClient,
  folder: string,
  monitorIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let bytes = 0;
  const bounded = async function* (stream: AsyncIterable<Buffer>) {
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) throw new TooManyRows();
      yield chunk;
    }
  };
  for (const { name, columns, from } of SQL_TABLES) {
    const { stream } = await clickhouse
      .exec({
        query: `SELECT ${columns.join(', ')} FROM ${from} FORMAT Parquet`,
        query_params: { monitors: [...monitorIds] },
        clickhouse_settings: SETTINGS,
        abort_signal: signal,
      })
      .catch(asTooManyRows);
    await pipeline(stream, bounded, createWriteStream(join(folder, `${name}.parquet`), { mode: 0o600 }), { signal });
  }
}

function asTooManyRows(error: unknown): never {
  throw error instanceof ClickHouseError && error.code === TOO_MANY_ROWS ? new TooManyRows() : error;
}

/** What the failed statements of an account may take on a UTC day, in milliseconds. */
export const FAILED_MS_PER_DAY = 60_000;

/** Longer than any statement takes with the reading of its rows. */
const LEASE_SECONDS = 60;

export type StatementSlot = 'taken' | 'busy' | 'used_up';

/**
 * Takes the slot of an account: it may run one statement at a time, in all processes together. A process that dies
 * keeps it for a minute.
 *
 * @param token a new UUID
 * @returns `used_up`: its failed statements took all that they may on this day
 */
export async function takeStatementSlot(db: Queryable, accountId: string, token: string): Promise<StatementSlot> {
  const isTaken = await isChanged(db)`
    INSERT INTO sql_statements AS s (account_id, day, running_token, running_until)
    SELECT ${accountId}, (now AT TIME ZONE 'UTC')::date, ${token}::uuid, now + make_interval(secs => ${LEASE_SECONDS})
    FROM (SELECT service_now() AS now) AS clock
    ON CONFLICT (account_id) DO UPDATE
      SET day = excluded.day, running_token = excluded.running_token, running_until = excluded.running_until,
        failed_ms = CASE WHEN s.day = excluded.day THEN s.failed_ms ELSE 0 END
      WHERE (s.running_until IS NULL OR s.running_until < (SELECT service_now()))
        AND (s.day <> excluded.day OR s.failed_ms < ${FAILED_MS_PER_DAY})`;
  if (isTaken) return 'taken';
  const rows = await readRows<{ running: boolean }>(db)`
    SELECT coalesce(running_until >= service_now(),
      false) AS running FROM sql_statements WHERE account_id = ${accountId}`;
  return rows[0]?.running === true ? 'busy' : 'used_up';
}

/** @param failedMs what the statement took if it failed, 0 if it was charged */
export async function releaseStatementSlot(
  db: Queryable,
  accountId: string,
  token: string,
  failedMs: number,
): Promise<void> {
  await execute(db)`
    UPDATE sql_statements SET running_token = NULL, running_until = NULL, failed_ms = failed_ms + ${Math.ceil(failedMs)}
    WHERE account_id = ${accountId} AND running_token = ${token}`;
}
