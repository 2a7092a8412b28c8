import type { WebhookKind } from '../../schemas/api/monitors.ts';
import type { DeliveryAttempt } from '../../schemas/messages/monitor-match.ts';
import { eachInTransaction, inTransaction } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { execute, readRows, sql } from '../postgres/sql.ts';
import { matchId } from '../rules/identifiers.ts';

/** The monitor becomes webhook_failing after this many failed matches in a row. */
export const FAILURES_UNTIL_FAILING = 50;

export interface FinishedAttempt {
  monitorId: string;
  seq: number;
  leaseToken: string;
  webhookKind: WebhookKind;
  /** The owner queued it again. Its failure does not count towards the endpoint's health. */
  isResent: boolean;
  /** Where the attempt was sent. Not stored, because chat URLs are secrets. */
  webhookUrl: string;
  /** Host of the webhook URL only. */
  host: string;
  durationMs: number;
  /** 0 when there was no answer. */
  httpStatus: number;
  error: string | null;
  responseExcerpt: string | null;
  deliveryStatus: 'pending' | 'delivered' | 'failed';
  /** Milliseconds until the next attempt; null unless pending. */
  delayMs: number | null;
}

export interface RecordedAttempt {
  attempt: number;
  startedAt: Date;
  nextAttemptAt: Date | null;
}

interface SettledAttempt extends RecordedAttempt {
  /** The URL is still the monitor's. The failure of another says nothing about the health of the present one. */
  isOfPresentUrl: boolean;
}

/**
 * Stores the outcome of attempts in one transaction, in the lock order of the service: the health of their endpoints,
 * the state of the matches, the release of the leases, the rows of the attempts. Nothing is stored of an attempt whose
 * lease was lost to another process. A match that would be retried is skipped when its monitor has no webhook any more:
 * the removal left it alone because of its lease, and a webhook that is added later gets only what comes then.
 *
 * Nearly always no failure is counted or reset, and the transaction is one statement. It has a separate COMMIT
 * nevertheless: a server that hung could otherwise commit it after this call had given up, and the repetition would
 * find no lease.
 *
 * @param attempts in the order in which they ended
 * @returns for each attempt, in order, what was stored; undefined when its lease was lost
 */
export async function recordOutcomes(
  pool: Pool,
  attempts: readonly FinishedAttempt[],
): Promise<(RecordedAttempt | undefined)[]> {
  if (!attempts.some(countsAsFailure)) {
    const settled = await settleMatches(eachInTransaction(pool), attempts, deliveredMonitors(attempts));
    if (settled.some((recorded) => recorded !== undefined)) return settled;
  }
  return inTransaction(pool, async (tx) => {
    const health = await lockHealth(tx, attempts);
    const settled = await settleMatches(tx, attempts);
    await storeHealth(
      tx,
      health,
      attempts.filter((_, index) => settled[index]?.isOfPresentUrl),
    );
    return settled;
  });
}

interface Health {
  failures: number;
  webhookFailing: boolean;
}

const countsAsFailure = (attempt: FinishedAttempt) => attempt.deliveryStatus === 'failed' && !attempt.isResent;

/**
 * Locks the health rows that these attempts may change: of monitors with a failed match, and of delivered monitors with
 * failures to reset. A healthy endpoint has no row, so its deliveries cost no write.
 */
async function lockHealth(db: Queryable, attempts: readonly FinishedAttempt[]): Promise<Map<string, Health>> {
  const failed = attempts.filter(countsAsFailure);
  const failing = distinctMonitors(failed);
  const delivered = deliveredMonitors(attempts);
  if (failing.length === 0 && delivered.length === 0) return new Map();
  if (failing.length > 0) {
    await execute(db, 'deliveries-open-health')`
      INSERT INTO monitor_health (monitor_id)
      SELECT DISTINCT m.monitor_id
      FROM unnest(${failed.map(({ monitorId }) => monitorId)}::text[], ${failed.map(({ seq }) => seq)}::bigint[],
        ${failed.map(({ leaseToken }) => leaseToken)}::uuid[]) AS failed (monitor_id, seq, lease_token)
      JOIN matches m USING (monitor_id, seq, lease_token)
      ORDER BY m.monitor_id
      ON CONFLICT DO NOTHING`;
  }
  const rows = await readRows<Health & { monitorId: string }>(db, 'deliveries-lock-health')`
    SELECT monitor_id AS "monitorId", failures, webhook_failing AS "webhookFailing"
    FROM monitor_health
    WHERE monitor_id = ANY (${failing}::text[]) OR (monitor_id = ANY (${delivered}::text[]) AND failures > 0)
    ORDER BY monitor_id
    FOR UPDATE`;
  return new Map(rows.map((row) => [row.monitorId, row]));
}

/** Counts failures in the order in which the attempts ended. webhook_failing stays set until the owner acts. */
async function storeHealth(
  db: Queryable,
  health: ReadonlyMap<string, Health>,
  attempts: readonly FinishedAttempt[],
): Promise<void> {
  const changed = new Map<string, Health>();
  for (const attempt of attempts) {
    const before = changed.get(attempt.monitorId) ?? health.get(attempt.monitorId);
    if (!before) continue;
    if (attempt.deliveryStatus === 'delivered') changed.set(attempt.monitorId, { ...before, failures: 0 });
    if (!countsAsFailure(attempt)) continue;
    const failures = before.failures + 1;
    const isFailing = before.webhookFailing || failures >= FAILURES_UNTIL_FAILING;
    changed.set(attempt.monitorId, { failures, webhookFailing: isFailing });
  }
  if (changed.size === 0) return;
  const states = [...changed.values()];
  await execute(db, 'deliveries-store-health')`
    UPDATE monitor_health h SET failures = new.failures, webhook_failing = new.webhook_failing
    FROM unnest(${[...changed.keys()]}::text[], ${states.map(({ failures }) => failures)}::integer[],
      ${states.map(({ webhookFailing }) => webhookFailing)}::boolean[]) AS new (monitor_id, failures, webhook_failing)
    WHERE h.monitor_id = new.monitor_id`;
}

/**
 * Updates the matches whose lease is still ours, and inserts the rows of their attempts. The planner does not know how
 * many there are (`(SELECT $1)`), and so looks each match and its monitor up by the primary key.
 *
 * @param ifHealthy does nothing when one of these monitors has failures, which a success would have to reset
 */
async function settleMatches(
  db: Queryable,
  attempts: readonly FinishedAttempt[],
  ifHealthy: readonly string[] = [],
): Promise<(SettledAttempt | undefined)[]> {
  const column = <Field extends keyof FinishedAttempt>(field: Field) => attempts.map((attempt) => attempt[field]);
  const rows = await readRows<SettledAttempt & { ordinal: number }>(db, 'deliveries-settle-matches')`
    WITH moment AS MATERIALIZED (SELECT service_now() AS at),
    finished AS (
      SELECT *
      FROM unnest((SELECT ${column('monitorId')}::text[]), (SELECT ${column('seq')}::bigint[]),
        (SELECT ${column('leaseToken')}::uuid[]), (SELECT ${column('deliveryStatus')}::text[]),
        (SELECT ${column('delayMs')}::float8[]), (SELECT ${column('durationMs')}::integer[]),
          (SELECT ${column('webhookKind')}::text[]), (SELECT ${column('host')}::text[]),
        (SELECT ${column('httpStatus')}::integer[]), (SELECT ${column('error')}::text[]),
          (SELECT ${column('responseExcerpt')}::text[]), (SELECT ${column('webhookUrl')}::text[])) WITH ORDINALITY
        AS f (monitor_id, seq, lease_token, delivery_status, delay_ms, duration_ms, webhook_kind, host, status, error,
          response_excerpt, webhook_url, ordinal)
    ), leased AS (
      SELECT m.monitor_id, m.seq, f.delivery_status, f.delay_ms, f.duration_ms, f.webhook_kind, f.host, f.status,
        f.error,
        f.response_excerpt, f.ordinal, coalesce(w.webhook_url = f.webhook_url, false) AS is_present,
        f.delivery_status = 'pending' AND (w.webhook_url IS NULL OR w.status = 'deleted') AS is_skipped
      FROM finished f
      JOIN matches m ON m.monitor_id = f.monitor_id AND m.seq = f.seq AND m.lease_token = f.lease_token
      LEFT JOIN monitors w ON w.id = m.monitor_id
      WHERE NOT EXISTS (SELECT FROM monitor_health h WHERE h.monitor_id = ANY (${ifHealthy}::text[]) AND h.failures > 0)
      ORDER BY m.monitor_id, m.seq
      FOR UPDATE OF m
    ), settled AS (
      UPDATE matches m
      SET attempt = m.attempt + 1, ladder_step = m.ladder_step + 1,
        delivery_status = CASE WHEN leased.is_skipped THEN 'skipped' ELSE leased.delivery_status END,
        next_attempt_at =
          CASE WHEN NOT leased.is_skipped THEN moment.at + leased.delay_ms * interval '1 millisecond' END,
        delivered_at = CASE WHEN leased.delivery_status = 'delivered' THEN moment.at END,
        lease_token = NULL, lease_until = NULL
      FROM leased, moment
      WHERE m.monitor_id = leased.monitor_id AND m.seq = leased.seq
      RETURNING m.monitor_id, m.seq, m.attempt, moment.at - leased.duration_ms * interval '1 millisecond' AS started_at,
        leased.duration_ms, leased.webhook_kind, leased.host, leased.status, leased.error, leased.response_excerpt,
          leased.delivery_status,
        m.next_attempt_at, leased.ordinal, leased.is_present
    ), logged AS (
      INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
        error,
        response_excerpt, delivery_status, next_attempt_at)
      SELECT monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, error, response_excerpt,
        delivery_status, next_attempt_at
      FROM settled
      ORDER BY monitor_id, seq
    )
    SELECT ordinal, attempt, started_at AS "startedAt", next_attempt_at AS "nextAttemptAt",
      is_present AS "isOfPresentUrl"
    FROM settled`;
  const byOrdinal = new Map(rows.map(({ ordinal, ...recorded }) => [ordinal, recorded]));
  return attempts.map((_, index) => byOrdinal.get(index + 1));
}

function deliveredMonitors(attempts: readonly FinishedAttempt[]): string[] {
  return distinctMonitors(attempts.filter(({ deliveryStatus }) => deliveryStatus === 'delivered'));
}

function distinctMonitors(attempts: readonly FinishedAttempt[]): string[] {
  return [...new Set(attempts.map(({ monitorId }) => monitorId))];
}

type AttemptRow = Omit<DeliveryAttempt, 'v' | 'match_id' | 'started_at' | 'next_attempt_at'> & {
  started_at: Date;
  next_attempt_at: Date | null;
};

const ATTEMPTS = sql`SELECT monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status, error,
  delivery_status, next_attempt_at FROM delivery_attempts`;

/**
 * Reads attempts that began more than `olderThanMs` ago and are not yet acknowledged on monitor.deliveries, oldest
 * first.
 */
export async function readUnpublishedAttempts(
  db: Queryable,
  olderThanMs: number,
  limit: number,
): Promise<DeliveryAttempt[]> {
  const rows = await readRows<AttemptRow>(db)`
    ${ATTEMPTS}
    WHERE published_at IS NULL AND started_at < (SELECT service_now()) - ${olderThanMs} * interval '1 millisecond'
    ORDER BY started_at
    LIMIT ${limit}`;
  return rows.map(toAttempt);
}

/** Reads the attempts of all monitors, in the order of (monitor, seq, attempt). */
export async function readAttemptsAfter(
  db: Queryable,
  after: { monitorId: string; seq: number; attempt: number },
  limit: number,
): Promise<DeliveryAttempt[]> {
  const rows = await readRows<AttemptRow>(db)`
    ${ATTEMPTS}
    WHERE (monitor_id, seq, attempt) > (${after.monitorId}, ${after.seq}, ${after.attempt})
    ORDER BY monitor_id, seq, attempt
    LIMIT ${limit}`;
  return rows.map(toAttempt);
}

function toAttempt(row: AttemptRow): DeliveryAttempt {
  return {
    ...row,
    v: 1,
    match_id: matchId(row.monitor_id, row.seq),
    started_at: row.started_at.toISOString(),
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  };
}

/**
 * Marks attempts as acknowledged on monitor.deliveries. Does not wait for the disk, nor for a standby: a mark that is
 * lost in a crash costs one more publication, which consumers recognise. A transaction that runs it would not wait
 * either, so it must run in none.
 */
export async function markAttemptsPublished(
  db: Queryable,
  attempts: readonly Pick<DeliveryAttempt, 'monitor_id' | 'seq' | 'attempt'>[],
): Promise<void> {
  await execute(db, 'deliveries-mark-published')`
    WITH async_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    UPDATE delivery_attempts a SET published_at = (SELECT service_now())
    FROM async_commit, unnest((SELECT ${attempts.map((attempt) => attempt.monitor_id)}::text[]),
      (SELECT ${attempts.map((attempt) => attempt.seq)}::bigint[]),
      (SELECT ${attempts.map((attempt) => attempt.attempt)}::integer[]))
      AS published (monitor_id, seq, attempt)
    WHERE a.monitor_id = published.monitor_id AND a.seq = published.seq AND a.attempt = published.attempt`;
}
