import type { DigestPeriod } from '../../schemas/api/monitors.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readOne, readRows, sql } from '../postgres/sql.ts';
import type { StoredMatch } from '../matches/rules/match-resource.ts';
import { STORED_MATCHES } from '../matches/match-pages.ts';

export interface DueDigest {
  monitorId: string;
  period: DigestPeriod;
  /** The range: greater than `after`, up to `until`. */
  after: number;
  until: number;
  /** The matches in the range that are neither suppressed nor found by a backfill. */
  count: number;
  hasWebhook: boolean;
}

/**
 * What a digest waits for: an account that is active, and that the digest before it has been settled. `d` is the range,
 * `m` its monitor, `a` its account.
 */
const IS_READY = sql`
  d.due_at <= (SELECT service_now()) AND a.status = 'active' AND m.status <> 'deleted'
  AND CASE WHEN m.webhook_url IS NULL
    THEN NOT EXISTS (SELECT FROM digest_mails w WHERE w.account_id = a.id AND w.outcome IS NULL)
    ELSE NOT EXISTS (SELECT FROM monitor_events e WHERE e.monitor_id = m.id AND e.delivery_status = 'pending'
      AND e.kind = 'monitor.digest')
  END`;

/** Lists accounts with digests to make now, by id, after the one given (`''` for the start). */
export async function listAccountsWithDueDigests(db: Queryable, after: string, limit: number): Promise<string[]> {
  const rows = await readRows<{ id: string }>(db, 'digests-list-accounts')`
    SELECT DISTINCT a.id
    FROM monitor_digests d JOIN monitors m ON m.id = d.monitor_id JOIN accounts a ON a.id = m.account_id
    WHERE ${IS_READY} AND a.id > ${after}
    ORDER BY a.id
    LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/** How many digests are to be made now, counted up to `most`, and for how long one of those has been due. */
export async function countReadyDigests(db: Queryable, most: number): Promise<{ due: number; oldestSeconds: number }> {
  return readOne<{ due: number; oldestSeconds: number }>(db, 'digests-count')`
    SELECT count(*)::int AS due,
      coalesce(extract(epoch FROM service_now() - min(due_at)), 0)::float8 AS "oldestSeconds"
    FROM (
      SELECT d.due_at
      FROM monitor_digests d JOIN monitors m ON m.id = d.monitor_id JOIN accounts a ON a.id = m.account_id
      WHERE ${IS_READY}
      LIMIT ${most}
    ) AS ready`;
}

/**
 * Locks the ranges of an account that are due, and reads what is in them by now. Ranges that another process or a
 * change of the monitor has locked are left out. Run it in the transaction that stores the digests and advances the
 * ranges. It takes no monitor's lock: a seq is committed after all smaller ones, so that everything up to the last seq
 * is there.
 */
export async function takeDueDigests(db: Queryable, accountId: string): Promise<DueDigest[]> {
  const locked = await readRows<{ monitorId: string; after: number }>(db, 'digests-lock')`
    SELECT d.monitor_id AS "monitorId", d.after_seq AS after
    FROM monitor_digests d JOIN monitors m ON m.id = d.monitor_id JOIN accounts a ON a.id = m.account_id
    WHERE a.id = ${accountId} AND ${IS_READY}
    ORDER BY d.monitor_id, d.after_seq
    FOR UPDATE OF d SKIP LOCKED`;
  // A separate statement: the snapshot of the first one may be older than a change that it waited for.
  return readRows<DueDigest>(db, 'digests-read')`
    SELECT d.monitor_id AS "monitorId", d.period, d.after_seq AS after, reached.seq AS until,
      m.webhook_url IS NOT NULL AS "hasWebhook",
      (SELECT count(*) FROM matches x
        WHERE x.monitor_id = d.monitor_id AND x.seq > d.after_seq AND x.seq <= reached.seq
          AND NOT x.suppressed AND NOT x.backfill) AS count
    FROM unnest(${locked.map(({ monitorId }) => monitorId)}::text[],
      ${locked.map(({ after }) => after)}::bigint[]) AS locked (monitor_id, after_seq)
    JOIN monitor_digests d USING (monitor_id, after_seq)
    JOIN monitors m ON m.id = d.monitor_id
    JOIN monitor_counters c ON c.monitor_id = d.monitor_id
    CROSS JOIN LATERAL (SELECT coalesce(d.until_seq, c.last_seq) AS seq) AS reached
    ORDER BY m.name, d.monitor_id, d.after_seq`;
}

/** Moves locked ranges on to their next full hour or midnight, and ends those of digests that were switched off. */
export async function advanceDigests(
  db: Queryable,
  digests: readonly Pick<DueDigest, 'monitorId' | 'after' | 'until'>[],
): Promise<void> {
  const [ids, afters, untils] = [
    digests.map(({ monitorId }) => monitorId),
    digests.map(({ after }) => after),
    digests.map(({ until }) => until),
  ];
  await execute(db, 'digests-end')`
    DELETE FROM monitor_digests d
    USING unnest(${ids}::text[], ${afters}::bigint[], ${untils}::bigint[]) AS made (monitor_id, after_seq, until)
    WHERE d.monitor_id = made.monitor_id AND d.after_seq = made.after_seq AND d.until_seq <= made.until`;
  await execute(db, 'digests-advance')`
    UPDATE monitor_digests d SET after_seq = made.until, due_at = next_digest_at(d.period)
    FROM unnest(${ids}::text[], ${afters}::bigint[], ${untils}::bigint[]) AS made (monitor_id, after_seq, until)
    WHERE d.monitor_id = made.monitor_id AND d.after_seq = made.after_seq AND d.until_seq IS NULL`;
}

export interface DigestSection extends DigestRange {
  period: DigestPeriod;
  /** Matches in the range when the digest was made. */
  count: number;
}

/** Returns false, and stores nothing, while another mail of the account waits. */
export async function insertDigestMail(
  db: Queryable,
  accountId: string,
  sections: readonly DigestSection[],
): Promise<boolean> {
  return isChanged(db)`
    INSERT INTO digest_mails (account_id, sections) VALUES (${accountId},
      ${JSON.stringify(sections)}) ON CONFLICT DO NOTHING`;
}

/** The names of monitors that are not deleted, by id. */
export async function readMonitorNames(db: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await readRows<{ id: string; name: string }>(db)`
    SELECT id, name FROM monitors WHERE id = ANY (${ids}::text[]) AND status <> 'deleted'`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** A range of seqs: greater than `after`, up to `until`. */
export interface DigestRange {
  monitorId: string;
  after: number;
  until: number;
}

/** Oldest first, with their content as it is now, without matches that are suppressed or that a backfill found. */
export async function readDigestMatches(
  db: Queryable,
  { monitorId, after, until }: DigestRange,
  limit: number,
): Promise<StoredMatch[]> {
  return readRows<StoredMatch>(db, 'digests-read-matches')`
    ${STORED_MATCHES}
    WHERE m.monitor_id = ${monitorId} AND m.seq > ${after} AND m.seq <= ${until} AND NOT m.suppressed AND NOT m.backfill
    ORDER BY m.seq
    LIMIT ${limit}`;
}
