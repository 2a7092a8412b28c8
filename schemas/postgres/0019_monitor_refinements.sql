-- Conditions that most monitors do not have, and what a monitor's owner does not want to see any more.

ALTER TABLE monitors
  -- The members of RuleRefinements (shared/matching/rule.ts) that are in use; null: none. A change of any of them
  -- starts a new version.
  ADD COLUMN refinements jsonb CHECK (jsonb_typeof(refinements) = 'object' AND refinements <> '{}'),
  -- At most one match a thread and UTC day; further ones are suppressed. A change starts no version: the recorder reads
  -- it under the monitor's lock.
  ADD COLUMN thread_once boolean NOT NULL DEFAULT false;

-- Written and deleted under the monitor's lock, so that nothing muted is recorded after the answer. At most 500 a
-- monitor.
CREATE TABLE monitor_mutes (
  id text COLLATE "C" NOT NULL UNIQUE,
  monitor_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('subreddit', 'author', 'thread')),
  -- As it is compared: a community without r/ or an account without u/, in lower case; a post's id with t3_.
  value text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  -- The recorder looks up the communities, authors and threads of its candidates.
  PRIMARY KEY (monitor_id, kind, value)
);
