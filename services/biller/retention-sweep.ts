import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { deleteExpiredLiveTailSlots } from '../../shared/stores/matches/live-tails.ts';
import { deleteExpiredDashboardSessions } from '../../shared/stores/dashboard/dashboard-sessions.ts';
import { deleteExpiredOAuthRecords } from '../../shared/stores/accounts/oauth-records.ts';
import { deleteExpiredUses } from '../../shared/stores/accounts/sliding-log-limits.ts';
import {
  deleteAttempts,
  deleteExpiredAnswers,
  deleteExpiredHistory,
  deleteExpiredItems,
  deleteExpiredMatches,
  deleteExpiredRemovals,
  deleteExpiredThreads,
  forgetDeletedMonitor,
  listCounterIds,
  listForgettable,
  readLastDeletedNumbers,
} from '../../shared/stores/upkeep/retention.ts';
import {
  deleteExpiredAuditSamples,
  deleteExpiredCoverage,
  deleteExpiredForumCalls,
  deleteExpiredGaps,
  deleteExpiredLostRecords,
} from '../../shared/stores/upkeep/coverage-retention.ts';
import { deleteExpiredBackfills } from '../../shared/stores/backfills/backfill-retention.ts';
import { deleteExpiredDigestMails } from '../../shared/stores/digests/digest-mails.ts';
import { deleteExpiredMonitorEvents } from '../../shared/stores/events/monitor-events.ts';
import { deleteExpiredUnknownCharges } from '../../shared/stores/ledger/unknown-charges.ts';
import { deleteUnknownCharges } from '../../shared/stores/payments/payment-charges.ts';
import { deleteExpiredPaymentEvents } from '../../shared/stores/payments/payment-events.ts';
import { deleteAbandonedPayments } from '../../shared/stores/payments/payments.ts';
import { deleteExpiredSignups } from '../../shared/stores/accounts/signups.ts';
import { deleteExpiredNotices } from '../../shared/stores/notices/notices.ts';
import { PacedDeletes } from './paced-deletes.ts';
import type { PacedDeletesDeps } from './paced-deletes.ts';

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
/** A commit ends with the server's next start at the latest. */
const UNKNOWN_CHARGE_DAYS = 7;
const NOTICE_DAYS = 30;
const EVENT_DAYS = 30;
const DIGEST_MAIL_DAYS = 7;
const MONITORS_PER_PAGE = 500;

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
  { table: 'lost_records', deleteSome: (db, limit) => deleteExpiredLostRecords(db, GAP_DAYS, limit) },
  { table: 'audit_samples', deleteSome: (db, limit) => deleteExpiredAuditSamples(db, AUDIT_DAYS, limit) },
  { table: 'forum_calls', deleteSome: (db, limit) => deleteExpiredForumCalls(db, COVERAGE_DAYS, limit) },
  { table: 'coverage_hours', deleteSome: (db, limit) => deleteExpiredCoverage(db, COVERAGE_DAYS, limit) },
  { table: 'unknown_charges', deleteSome: (db, limit) => deleteExpiredUnknownCharges(db, UNKNOWN_CHARGE_DAYS, limit) },
  { table: 'payment_events', deleteSome: (db, limit) => deleteExpiredPaymentEvents(db, PAYMENT_DAYS, limit) },
  { table: 'payment_charges', deleteSome: (db, limit) => deleteUnknownCharges(db, PAYMENT_DAYS, limit) },
  { table: 'payments', deleteSome: (db, limit) => deleteAbandonedPayments(db, PAYMENT_DAYS, limit) },
];

export interface SweepDeps extends PacedDeletesDeps {
  pool: Pool;
}

/** Deletes everything past its retention in small statements. Repeating or stopping it at any point is harmless. */
export async function sweepRetention(deps: SweepDeps): Promise<void> {
  const { pool } = deps;
  const deletes = new PacedDeletes(deps);
  let after = '';
  for (;;) {
    const ids = await listCounterIds(pool, after, MONITORS_PER_PAGE);
    if (ids.length > 0 && !(await deletes.mayContinue())) return;
    await sweepMonitors(deps, deletes, ids);
    if (ids.length < MONITORS_PER_PAGE) break;
    after = ids.at(-1)!;
  }
  for (const { table, deleteSome } of EXPIRING_TABLES) await deletes.repeat(table, (limit) => deleteSome(pool, limit));
}

async function sweepMonitors({ pool, metrics }: SweepDeps, deletes: PacedDeletes, ids: string[]): Promise<void> {
  const all = ids.map((monitorId) => ({ monitorId, after: 0 }));
  await deletes.ofMonitors('matches', all, (monitors, limit) =>
    deleteExpiredMatches(pool, monitors, { days: MATCH_DAYS, limit }),
  );
  const orphaned = await readLastDeletedNumbers(pool, ids);
  await deletes.ofMonitors(
    'delivery_attempts',
    orphaned.map(({ monitorId, seq }) => ({ monitorId, after: 0, upTo: seq })),
    (monitors, limit) => deleteAttempts(pool, monitors, limit),
  );
  metrics.swept.inc({ table: 'monitor_history' }, await deleteExpiredHistory(pool, ids, MATCH_DAYS));
  for (const id of await listForgettable(pool, ids)) await forgetDeletedMonitor(pool, id);
}
