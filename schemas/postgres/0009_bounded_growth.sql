-- Matches beyond the ceiling of suppressed matches a day are not stored. How many there were; approximate, since a batch that
-- is repeated counts them again.
ALTER TABLE monitor_days ADD COLUMN suppressed_not_stored bigint NOT NULL DEFAULT 0;
-- The latest entered_at of those: what entered until then and has no match gets none on a later day either, when it is read again.
ALTER TABLE monitor_counters ADD COLUMN not_stored_until timestamptz;
-- Matches that the account sent again on a UTC day. Beside the other limits: changed by resends only.
ALTER TABLE account_limits ADD COLUMN resend_day date NOT NULL DEFAULT '-infinity', ADD COLUMN day_resends integer NOT NULL DEFAULT 0;
