/**
 * Indexes that serve the state of a monitor's deliveries at a constant cost.
 *
 * - matches_pending_since: the pending match that has waited longest, and the first thousand pending ones.
 * - delivery_attempts_outcomes: the last attempt with each outcome, and the attempts of the last day that failed. It
 *   serves what delivery_attempts_failed served.
 */
export const up = (pgm) => {
  pgm.noTransaction();
  pgm.sql('DROP INDEX CONCURRENTLY IF EXISTS matches_pending_since');
  pgm.sql(
    `CREATE INDEX CONCURRENTLY matches_pending_since ON matches (monitor_id, (coalesce(resent_at, created_at)))
     WHERE delivery_status = 'pending'`,
  );
  pgm.sql('DROP INDEX CONCURRENTLY IF EXISTS delivery_attempts_outcomes');
  pgm.sql(
    `CREATE INDEX CONCURRENTLY delivery_attempts_outcomes
     ON delivery_attempts (monitor_id, delivery_status, started_at)`,
  );
  pgm.sql('DROP INDEX CONCURRENTLY IF EXISTS delivery_attempts_failed');
};
