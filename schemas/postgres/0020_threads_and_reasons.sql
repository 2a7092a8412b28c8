-- At most one delivered match a thread and day, for monitors with thread_once.

-- Threads that have had an unsuppressed match of a monitor on a UTC day. Written in the match's transaction, under the
-- monitor's lock; only for monitors with thread_once. Expires after two days.
CREATE TABLE monitor_threads (
  -- As in monitor_days.
  day date NOT NULL,
  monitor_id text COLLATE "C" NOT NULL,
  -- Without t3_.
  post_id text COLLATE "C" NOT NULL,
  -- The recorder looks up whole keys. The day is first, because expired rows are deleted by it.
  PRIMARY KEY (day, monitor_id, post_id)
);

-- thread_once: the thread had a match on that day. Null for matches over the daily cap, and for all others.
ALTER TABLE matches ADD COLUMN suppressed_reason text;

-- The latest entered_at of a candidate that thread_once suppressed and that was not stored because it was beyond the
-- ceiling of suppressed matches. Whatever entered until then becomes no match on a later day.
ALTER TABLE monitor_counters ADD COLUMN threads_not_stored_until timestamptz;
