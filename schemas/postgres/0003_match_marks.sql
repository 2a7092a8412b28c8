-- What the owner of a monitor did with its matches in the dashboard.

-- At most one mark a match, and a bounded number a monitor. Deleted with its match.
CREATE TABLE match_marks (
  monitor_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  mark text COLLATE "C" NOT NULL CHECK (mark IN ('bookmarked', 'irrelevant')),
  created_at timestamptz NOT NULL DEFAULT service_now(),
  PRIMARY KEY (monitor_id, seq)
);

-- The last match that the owner has seen; it never goes back. No row: none.
CREATE TABLE match_positions (
  monitor_id text COLLATE "C" PRIMARY KEY,
  read_seq bigint NOT NULL
);

-- What was recorded before there were positions is not new.
INSERT INTO match_positions (monitor_id, read_seq)
SELECT monitor_id, last_seq FROM monitor_counters WHERE last_seq > 0;
