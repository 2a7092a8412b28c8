-- Backfills: matches of the archive that become matches of a monitor.

-- Found in the archive by a backfill, not when the thing was new. entered_at is then the time of its first sight.
ALTER TABLE matches ADD COLUMN backfill boolean NOT NULL DEFAULT false;

-- A run of a backfill. Its progress is committed with the matches that it records and with their charge. Written with
-- the monitor's lock held, except for the lease.
CREATE TABLE backfills (
  id text COLLATE "C" PRIMARY KEY,
  monitor_id text COLLATE "C" NOT NULL,
  -- No reference to accounts, because its check would wait for their locks.
  account_id text COLLATE "C" NOT NULL,
  -- What judges the archive: the version of the rule when the run was asked for, and the rule itself.
  version integer NOT NULL,
  rule jsonb NOT NULL,
  -- Items first seen from here on, and before to_at.
  from_at timestamptz NOT NULL,
  to_at timestamptz NOT NULL,
  -- to_at is when the run was asked for. What entered later is matched live.
  until_now boolean NOT NULL DEFAULT true,
  deliver boolean NOT NULL,
  -- Null: no limit.
  max_credits integer CHECK (max_credits > 0),
  -- cancelled: the monitor was deleted, or its account was deleted or frozen. failed: given up after faults of ours.
  state text NOT NULL DEFAULT 'running'
    CHECK (state IN ('running', 'done', 'stopped_balance', 'stopped_credits', 'stopped_limit', 'cancelled', 'failed')),
  -- The offsets that archive, matcher and recorder must have reached before the archive is read; null: not read yet.
  awaited_offsets jsonb,
  -- The position in the archive up to which everything is decided; null: nothing is.
  scanned_at timestamptz,
  scanned_thing text COLLATE "C",
  matches integer NOT NULL DEFAULT 0,
  -- Of the matches, those to deliver.
  delivered integer NOT NULL DEFAULT 0,
  -- Items that matched and were matches of the monitor before.
  already_known integer NOT NULL DEFAULT 0,
  credits integer NOT NULL DEFAULT 0,
  -- The seqs of its first and last match, and up to which they were published to monitor.matches.
  first_seq bigint,
  last_seq bigint,
  published_seq bigint,
  -- The request that caused the charges, as in ledger_entries.
  request_id text,
  route text,
  key_id text COLLATE "C",
  -- The process that works on it, until when, and when it last took it up: accounts take turns.
  lease_token uuid,
  lease_until timestamptz,
  taken_at timestamptz,
  -- Nobody takes it up before: an engine was away, or the archive is not up to date.
  next_at timestamptz NOT NULL DEFAULT service_now(),
  -- Unexpected errors in a row.
  faults integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  ended_at timestamptz
);
-- One running run a monitor.
CREATE UNIQUE INDEX backfills_running ON backfills (monitor_id) WHERE state = 'running';
-- The newest runs of a monitor; erasure.
CREATE INDEX backfills_monitor ON backfills (monitor_id, created_at);
CREATE INDEX backfills_ended ON backfills (ended_at);
