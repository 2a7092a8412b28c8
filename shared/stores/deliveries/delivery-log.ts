import type { WebhookKind } from '../../../schemas/api/monitors.ts';
import type { Queryable, Pool } from '../../postgres/pool.ts';
import { inIndexOrder } from '../../postgres/pool.ts';
import { readRows } from '../../postgres/sql.ts';

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
  /** Of its match. */
  seq: number;
  attempt: number;
}

/** Reads a monitor's attempts before a position: newest match first, and the last attempt of each match first. */
export async function readAttemptsBefore(
  db: Queryable,
  monitorId: string,
  page: { before: AttemptPosition; seq: number | undefined; limit: number },
): Promise<StoredAttempt[]> {
  return readRows<StoredAttempt>(db)`
    SELECT seq, attempt, started_at AS "startedAt", duration_ms AS "durationMs", webhook_kind AS "webhookKind", host,
      status, error, response_excerpt AS "responseExcerpt", delivery_status AS "deliveryStatus",
      next_attempt_at AS "nextAttemptAt"
    FROM delivery_attempts
    WHERE monitor_id = ${monitorId} AND (seq, attempt) < (${page.before.seq},
      ${page.before.attempt}) AND (${page.seq ?? null}::bigint IS NULL OR seq = ${page.seq ?? null})
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
/** One more shows whether there are more. */
const READ_LIMIT = MAX_READ + 1;
/** The position of the last one of them. */
const LAST_READ = MAX_READ - 1;

type FoundRow = StoredAttempt | { seq: null };

/**
 * Reads the first `limit` attempts before a position that pass a filter, and at most `MAX_READ` attempts. Those since a
 * time are found by their time when they are that few; else the attempts are read in their order, and so many end the
 * call.
 */
export function readFilteredAttempts(
  pool: Pool,
  monitorId: string,
  page: { before: AttemptPosition; seq: number | undefined; limit: number; filter: AttemptFilter },
): Promise<FilteredAttempts> {
  const { before, seq, limit, filter } = page;
  const chosen = [monitorId, before.seq, before.attempt, seq ?? null, filter.status ?? null, filter.since ?? null];
  return inIndexOrder(pool, async (client) => {
    if (filter.since !== undefined) {
      const { rows } = await client.query<FoundRow & { isWhole: boolean }>(RECENT_ATTEMPTS, [...chosen, limit]);
      if (rows[0]?.isWhole === true) return { attempts: foundOf(rows), lastRead: undefined };
    }
    const { rows } = await client.query<FoundRow & { lastSeq: number | null; lastAttempt: number | null }>(
      ATTEMPTS_IN_ORDER,
      [...chosen, limit],
    );
    const { lastSeq, lastAttempt } = rows[0]!;
    const lastRead = lastSeq === null || lastAttempt === null ? undefined : { seq: lastSeq, attempt: lastAttempt };
    return { attempts: foundOf(rows), lastRead };
  });
}

function foundOf(rows: readonly FoundRow[]): StoredAttempt[] {
  return rows.filter((row) => row.seq !== null);
}

const COLUMNS = `seq, attempt, started_at AS "startedAt", duration_ms AS "durationMs", webhook_kind AS "webhookKind", host,
  status, error, response_excerpt AS "responseExcerpt", delivery_status AS "deliveryStatus",
  next_attempt_at AS "nextAttemptAt"`;

/** By delivery_attempts_outcomes. `isWhole`: all attempts since the time were read. */
const RECENT_ATTEMPTS = `
  WITH recent AS MATERIALIZED (
    SELECT a.*
    FROM (VALUES ('pending'), ('failed'), ('delivered')) AS outcome (name)
    CROSS JOIN LATERAL (
      SELECT * FROM delivery_attempts a
      WHERE a.monitor_id = $1 AND a.delivery_status = outcome.name AND a.started_at >= $6::timestamptz
      ORDER BY a.started_at DESC
      LIMIT ${READ_LIMIT}
    ) AS a
    WHERE $5::text IS NULL OR outcome.name = $5
    LIMIT ${READ_LIMIT}
  )
  SELECT whole."isWhole", found.*
  FROM (SELECT count(*) <= ${MAX_READ} AS "isWhole" FROM recent) AS whole
  LEFT JOIN LATERAL (
    SELECT ${COLUMNS} FROM recent
    WHERE (seq, attempt) < ($2::bigint, $3::integer) AND ($4::bigint IS NULL OR seq = $4)
    ORDER BY seq DESC, attempt DESC
    LIMIT $7
  ) AS found ON true
  ORDER BY found.seq DESC, found.attempt DESC`;

/** By the primary key. `lastSeq` and `lastAttempt`: the last one read, when the limit ended the reading. */
const ATTEMPTS_IN_ORDER = `
  WITH read AS MATERIALIZED (
    SELECT * FROM delivery_attempts
    WHERE monitor_id = $1 AND (seq, attempt) < ($2::bigint, $3::integer) AND ($4::bigint IS NULL OR seq = $4)
    ORDER BY seq DESC, attempt DESC
    LIMIT ${MAX_READ}
  ), last AS (
    SELECT seq, attempt FROM read ORDER BY seq DESC, attempt DESC OFFSET ${LAST_READ}
  )
  SELECT (SELECT seq FROM last) AS "lastSeq", (SELECT attempt FROM last) AS "lastAttempt", found.*
  FROM (SELECT) AS one
  LEFT JOIN LATERAL (
    SELECT ${COLUMNS} FROM read
    WHERE ($5::text IS NULL OR delivery_status = $5) AND ($6::timestamptz IS NULL OR started_at >= $6)
    ORDER BY seq DESC, attempt DESC
    LIMIT $7
  ) AS found ON true
  ORDER BY found.seq DESC, found.attempt DESC`;
