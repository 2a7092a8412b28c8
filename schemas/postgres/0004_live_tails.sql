-- Open streams of matches. An account has as many places as it may have streams: the primary key holds the limit, however many
-- processes serve them. Half-empty pages keep the renewals in place (HOT).
CREATE TABLE live_tails (
  account_id text COLLATE "C" NOT NULL,
  place smallint NOT NULL CHECK (place > 0),
  stream_id uuid NOT NULL,
  -- Renewed while the stream is open; past it the place is free.
  lease_until timestamptz NOT NULL,
  PRIMARY KEY (account_id, place)
) WITH (fillfactor = 50);
