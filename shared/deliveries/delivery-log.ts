import type { WebhookKind } from '../../schemas/api/monitors.ts';
import { inIndexOrder } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { readRows, sql } from '../postgres/sql.ts';

export interface StoredAttempt {
  seq: number;
  attempt: number;
  startedAt: Date;
  durationMs: number;
  webhookKind: WebhookKind;
  host: string;
  status: number;
  error: string | null;
  responseExcerpt: string | null;
  deliveryStatus: 'pending' | 'delivered' | 'failed';
  nextAttemptAt: Date | null;
}

export interface AttemptPosition {
  /** The number of its match. */
  seq: number;
  attempt: number;
}

const COLUMNS = sql`
  seq, attempt, started_at AS "startedAt", duration_ms AS "durationMs", webhook_kind AS "webhookKind", host, status,
  error, response_excerpt AS "responseExcerpt", delivery_status AS "deliveryStatus", next_attempt_at AS "nextAttemptAt"`;

/** Reads a monitor's attempts before a position: newest match first, and the last attempt of each match first. */
export async function readAttemptsBefore(
  db: Queryable,
  monitorId: string,
  page: { before: AttemptPosition; seq: number | undefined; limit: number },
): Promise<StoredAttempt[]> {
  return readRows<StoredAttempt>(db)`
    SELECT ${COLUMNS}
    FROM delivery_attempts
    WHERE monitor_id = ${monitorId} AND (seq, attempt) < (${page.before.seq}, ${page.before.attempt})
      AND (${page.seq}::bigint IS NULL OR seq = ${page.seq})
    ORDER BY seq DESC, attempt DESC
    LIMIT ${page.limit}`;
}

/** Absent fields do not restrict the choice. */
export interface AttemptFilter {
  status?: StoredAttempt['deliveryStatus'] | undefined;
  /** Began at this time or later. */
  since?: Date | undefined;
}

export interface FilteredAttempts {
  /** Newest match first, and the last attempt of each match first. */
  attempts: StoredAttempt[];
  /** The last attempt that was read, when more follow that were not; whether or not it passes the filter. */
  lastRead: AttemptPosition | undefined;
}

/** The most attempts that one call reads. */
const MAX_READ = 2_000;

type FoundRow = StoredAttempt | { seq: null };

/**
 * Reads the first `limit` attempts before a position that pass a filter, and at most `MAX_READ` attempts. Those since a
 * time are found by their time when they are that few; else the attempts are read in their order, and that many end
 * the call.
 */
export function readFilteredAttempts(
  pool: Pool,
  monitorId: string,
  page: { before: AttemptPosition; seq: number | undefined; limit: number; filter: AttemptFilter },
): Promise<FilteredAttempts> {
  const { before, seq, limit, filter } = page;
  return inIndexOrder(pool, async (client) => {
    if (filter.since !== undefined) {
      // By delivery_attempts_outcomes. One more than may be read shows whether there are more.
      const rows = await readRows<FoundRow & { isWhole: boolean }>(client)`
        WITH recent AS MATERIALIZED (
          SELECT a.*
          FROM (VALUES ('pending'), ('failed'), ('delivered')) AS outcome (name)
          CROSS JOIN LATERAL (
            SELECT * FROM delivery_attempts a
            WHERE a.monitor_id = ${monitorId} AND a.delivery_status = outcome.name
              AND a.started_at >= ${filter.since}::timestamptz
            ORDER BY a.started_at DESC
            LIMIT ${MAX_READ + 1}
          ) AS a
          WHERE ${filter.status}::text IS NULL OR outcome.name = ${filter.status}
          LIMIT ${MAX_READ + 1}
        )
        SELECT whole."isWhole", found.*
        FROM (SELECT count(*) <= ${MAX_READ} AS "isWhole" FROM recent) AS whole
        LEFT JOIN LATERAL (
          SELECT ${COLUMNS} FROM recent
          WHERE (seq, attempt) < (${before.seq}::bigint, ${before.attempt}::integer)
            AND (${seq}::bigint IS NULL OR seq = ${seq})
          ORDER BY seq DESC, attempt DESC
          LIMIT ${limit}
        ) AS found ON true
        ORDER BY found.seq DESC, found.attempt DESC`;
      if (rows[0]?.isWhole === true) return { attempts: foundOf(rows), lastRead: undefined };
    }
    // By the primary key. The last one read is there when the limit ended the reading.
    const rows = await readRows<FoundRow & { lastSeq: number | null; lastAttempt: number | null }>(client)`
      WITH read AS MATERIALIZED (
        SELECT * FROM delivery_attempts
        WHERE monitor_id = ${monitorId} AND (seq, attempt) < (${before.seq}::bigint, ${before.attempt}::integer)
          AND (${seq}::bigint IS NULL OR seq = ${seq})
        ORDER BY seq DESC, attempt DESC
        LIMIT ${MAX_READ}
      ), last AS (
        SELECT seq, attempt FROM read ORDER BY seq DESC, attempt DESC OFFSET ${MAX_READ - 1}
      )
      SELECT (SELECT seq FROM last) AS "lastSeq", (SELECT attempt FROM last) AS "lastAttempt", found.*
      FROM (SELECT) AS one
      LEFT JOIN LATERAL (
        SELECT ${COLUMNS} FROM read
        WHERE (${filter.status}::text IS NULL OR delivery_status = ${filter.status})
          AND (${filter.since}::timestamptz IS NULL OR started_at >= ${filter.since})
        ORDER BY seq DESC, attempt DESC
        LIMIT ${limit}
      ) AS found ON true
      ORDER BY found.seq DESC, found.attempt DESC`;
    const { lastSeq, lastAttempt } = rows[0]!;
    const lastRead = lastSeq === null || lastAttempt === null ? undefined : { seq: lastSeq, attempt: lastAttempt };
    return { attempts: foundOf(rows), lastRead };
  });
}

function foundOf(rows: readonly FoundRow[]): StoredAttempt[] {
  return rows.filter((row) => row.seq !== null);
}

export interface ListedDelivery {
  monitorId: string;
  accountId: string;
  seq: number;
  thingId: string;
  matchedAt: Date;
  /** Attempts made so far. */
  attempts: number;
  nextAttemptAt: Date | null;
  /** Of the last attempt; null without any. `lastStatus` is 0 when there was no answer. */
  lastAttemptAt: Date | null;
  lastHost: string | null;
  lastStatus: number | null;
  lastError: string | null;
}

export interface DeliveryFilter {
  status: 'pending' | 'failed';
  /** The monitors to look at; undefined: all, which needs an index that only pending deliveries have. */
  monitorIds: readonly string[] | undefined;
  limit: number;
}

/** Lists deliveries by monitor; of a monitor the oldest match first. */
export async function listDeliveries(db: Queryable, filter: DeliveryFilter): Promise<ListedDelivery[]> {
  return readRows<ListedDelivery>(db)`
    WITH listed AS MATERIALIZED (
      SELECT monitor_id, seq, thing_id, created_at, attempt, next_attempt_at
        FROM matches
       WHERE delivery_status = ${filter.status} AND (${filter.monitorIds ?? null}::text[] IS NULL OR monitor_id = ANY
         (${filter.monitorIds ?? null}))
       LIMIT ${filter.limit}
    )
    SELECT listed.monitor_id AS "monitorId", m.account_id AS "accountId", seq, thing_id AS "thingId",
           listed.created_at AS "matchedAt", listed.attempt AS attempts, listed.next_attempt_at AS "nextAttemptAt",
           last.started_at AS "lastAttemptAt", last.host AS "lastHost", last.status AS "lastStatus",
           last.error AS "lastError"
      FROM listed
      JOIN monitors m ON m.id = listed.monitor_id
      LEFT JOIN LATERAL (
        SELECT started_at, host, status, error FROM delivery_attempts a
         WHERE a.monitor_id = listed.monitor_id AND a.seq = listed.seq
         ORDER BY a.attempt DESC LIMIT 1
      ) AS last ON true
     ORDER BY listed.monitor_id, seq`;
}

/**
 * Finds monitors after `afterId`, by id, with a webhook and failed deliveries of matches recorded at `since` or later.
 * Reads the matches of at most `limit` monitors.
 *
 * @returns those that have some, and the last monitor that was looked at; undefined at the end
 */
export async function findMonitorsWithFailed(
  db: Queryable,
  afterId: string,
  { since, limit }: { since: Date; limit: number },
): Promise<{ monitorIds: string[]; lastId: string | undefined }> {
  const rows = await readRows<{ id: string; hasFailed: boolean }>(db)`
    SELECT id, EXISTS (SELECT FROM matches
                       WHERE monitor_id = looked.id AND delivery_status = 'failed'
                         AND created_at >= ${since}) AS "hasFailed"
     FROM (SELECT id FROM monitors
            WHERE id > ${afterId} AND status <> 'deleted' AND webhook_url IS NOT NULL
            ORDER BY id LIMIT ${limit}) AS looked
    ORDER BY id`;
  return { monitorIds: rows.filter(({ hasFailed }) => hasFailed).map(({ id }) => id), lastId: rows.at(-1)?.id };
}
