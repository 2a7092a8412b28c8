-- The address of a monitor's feed: one a monitor, so a new one replaces the old.
CREATE TABLE feed_tokens (
  monitor_id text COLLATE "C" PRIMARY KEY,
  -- SHA-256 of the 160 random bits in the address.
  token_hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT service_now()
);
