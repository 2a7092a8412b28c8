import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { deleteExpiredLiveTailSlots } from '../../shared/stores/matches/live-tails.ts';
import { deleteExpiredDashboardSessions } from '../../shared/stores/dashboard/dashboard-sessions.ts';
import { deleteExpiredOAuthRecords } from '../../shared/stores/accounts/oauth-records.ts';
import { deleteExpiredUses } from '../../shared/stores/accounts/sliding-log-limits.ts';
import {
  deleteExpiredAnswers,
  deleteExpiredHistory,
  deleteExpiredItems,
  deleteExpiredMatches,
  deleteExpiredRemovals,
  deleteExpiredThreads,
  deleteOrphanedAttempts,
  forgetDeletedMonitor,
  listCounterIds,
} from '../../shared/stores/upkeep/retention.ts';
import {
  deleteExpiredAuditSamples,
  deleteExpiredCoverage,
  deleteExpiredForumCalls,
  deleteExpiredGaps,
} from '../../shared/stores/upkeep/coverage-retention.ts';
import { deleteExpiredBackfills } from '../../shared/stores/backfills/backfill-retention.ts';
import { deleteExpiredDigestMails } from '../../shared/stores/digests/digest-mails.ts';
import { deleteExpiredMonitorEvents } from '../../shared/stores/events/monitor-events.ts';
import { deleteUnknownCharges } from '../../shared/stores/payments/payment-charges.ts';
import { deleteExpiredPaymentEvents } from '../../shared/stores/payments/payment-events.ts';
import { deleteAbandonedPayments } from '../../shared/stores/payments/payments.ts';
import { deleteExpiredSignups } from '../../shared/stores/accounts/signups.ts';
import { deleteExpiredNotices } from '../../shared/stores/notices/notices.ts';

const MATCH_DAYS = 30;
const REMOVAL_DAYS = 90;
/** A monitor's day is today, and after a clock was set back at most a later one. */
const THREAD_DAYS = 2;
const ANSWER_HOURS = 24;
const GAP_DAYS = 90;
/** The archive keeps 30 days; older hours are not estimated again. */
const AUDIT_DAYS = 35;
/** So that a month can be compared with the same one a year before. */
const COVERAGE_DAYS = 400;
const BACKFILL_DAYS = 30;
/** Expired sessions tell known networks from new ones. */
const SESSION_DAYS = 60;
/** Longer than the payment provider repeats an event, or a checkout that nobody paid can be paid. */
const PAYMENT_DAYS = 90;
const NOTICE_DAYS = 30;
const EVENT_DAYS = 30;
const DIGEST_MAIL_DAYS = 7;
/** Rows per statement: locks and transactions stay short, and other work runs in between. */
const BATCH = 5_000;
const MONITORS_PER_PAGE = 500;
/**
 * After a statement that deleted rows the sweep sleeps this many times the statement's duration. Inserts are hardly
 * slowed down, and the sweep still deletes 1,700 rows/s.
 */
const SLEEP_FACTOR = 12;
const MAX_SLEEP_MS = 5_000;

interface ExpiringTable {
  table: string;
  /** Deletes at most `limit` expired rows; returns how many. */
  deleteSome: (db: Queryable, limit: number) => Promise<number>;
}

/** Tables whose rows expire independently of other tables. */
const EXPIRING_TABLES: ExpiringTable[] = [
  { table: 'matched_items', deleteSome: deleteExpiredItems },
  { table: 'removed_things', deleteSome: (db, limit) => deleteExpiredRemovals(db, REMOVAL_DAYS, limit) },
  { table: 'monitor_threads', deleteSome: (db, limit) => deleteExpiredThreads(db, THREAD_DAYS, limit) },
  { table: 'backfills', deleteSome: (db, limit) => deleteExpiredBackfills(db, BACKFILL_DAYS, limit) },
  { table: 'idempotency_keys', deleteSome: (db, limit) => deleteExpiredAnswers(db, ANSWER_HOURS, limit) },
  { table: 'signups', deleteSome: deleteExpiredSignups },
  { table: 'notices', deleteSome: (db, limit) => deleteExpiredNotices(db, NOTICE_DAYS, limit) },
  { table: 'monitor_events', deleteSome: (db, limit) => deleteExpiredMonitorEvents(db, EVENT_DAYS, limit) },
  { table: 'digest_mails', deleteSome: (db, limit) => deleteExpiredDigestMails(db, DIGEST_MAIL_DAYS, limit) },
  { table: 'oauth_records', deleteSome: deleteExpiredOAuthRecords },
  {
    table: 'dashboard_sessions',
    deleteSome: (db, limit) => deleteExpiredDashboardSessions(db, { keptDays: SESSION_DAYS, limit }),
  },
  { table: 'recent_uses', deleteSome: deleteExpiredUses },
  { table: 'live_tails', deleteSome: deleteExpiredLiveTailSlots },
  { table: 'crawl_gaps', deleteSome: (db, limit) => deleteExpiredGaps(db, GAP_DAYS, limit) },
  { table: 'audit_samples', deleteSome: (db, limit) => deleteExpiredAuditSamples(db, AUDIT_DAYS, limit) },
  { table: 'forum_calls', deleteSome: (db, limit) => deleteExpiredForumCalls(db, COVERAGE_DAYS, limit) },
  { table: 'coverage_hours', deleteSome: (db, limit) => deleteExpiredCoverage(db, COVERAGE_DAYS, limit) },
  { table: 'payment_events', deleteSome: (db, limit) => deleteExpiredPaymentEvents(db, PAYMENT_DAYS, limit) },
  { table: 'payment_charges', deleteSome: (db, limit) => deleteUnknownCharges(db, PAYMENT_DAYS, limit) },
  { table: 'payments', deleteSome: (db, limit) => deleteAbandonedPayments(db, PAYMENT_DAYS, limit) },
];

export interface SweepDeps {
  pool: Pool;
  metrics: Metrics;
  /** Ends the sweep after the current statement. */
  signal: AbortSignal;
  /** Called before each statement that deletes many rows; returns whether this process still has the lease. */
  mayContinue: () => Promise<boolean>;
  /** Default: a timer of the system. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Deletes everything past its retention in small statements. Repeating or stopping it at any point is harmless. */
export async function sweepRetention(options: SweepDeps): Promise<void> {
  const { pool, metrics, signal, sleep = delay } = options;
  const mayContinue = async () => !signal.aborted && (await options.mayContinue());
  const repeat = async (table: string, step: () => Promise<number>) => {
    let deleted = BATCH;
    while (deleted >= BATCH && (await mayContinue())) {
      const begun = performance.now();
      deleted = await step();
      metrics.swept.inc({ table }, deleted);
      if (deleted > 0) await sleep(Math.min(SLEEP_FACTOR * (performance.now() - begun), MAX_SLEEP_MS), signal);
    }
  };
  let after = '';
  for (;;) {
    const ids = await listCounterIds(pool, after, MONITORS_PER_PAGE);
    for (const id of ids) {
      if (!(await mayContinue())) return;
      await repeat('matches', () => deleteExpiredMatches(pool, id, MATCH_DAYS, BATCH));
      await repeat('delivery_attempts', () => deleteOrphanedAttempts(pool, id, BATCH));
      metrics.swept.inc({ table: 'monitor_history' }, await deleteExpiredHistory(pool, id, MATCH_DAYS));
      await forgetDeletedMonitor(pool, id);
    }
    if (ids.length < MONITORS_PER_PAGE) break;
    after = ids.at(-1)!;
  }
  for (const { table, deleteSome } of EXPIRING_TABLES) await repeat(table, () => deleteSome(pool, BATCH));
}
