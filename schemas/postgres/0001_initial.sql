-- Identifiers compare byte by byte (COLLATE "C"): lock order and match order must not depend on a server's locale.

-- Time ----------------------------------------------------------------------------------------------------------------

-- Shifts service_now(), so that tests see days, renewals and retention pass without waiting. A real database cannot.
CREATE TABLE service_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  shift interval NOT NULL DEFAULT '0',
  CHECK (shift = '0' OR current_database() ~ '^forum_test_')
);
INSERT INTO service_clock DEFAULT VALUES;

-- The service's time, in milliseconds. Volatile: write (SELECT service_now()) in conditions, or no index serves them.
CREATE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$ SELECT date_trunc('milliseconds', clock_timestamp() + (SELECT shift FROM service_clock)) $$;

-- The real time, cut to milliseconds: for what is compared with the broker's append times, and never shifted.
CREATE FUNCTION wall_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$ SELECT date_trunc('milliseconds', clock_timestamp()) $$;

-- Installation --------------------------------------------------------------------------------------------------------

-- Values made once and shared by all processes, such as the generated secret key.
CREATE TABLE settings (
  name text PRIMARY KEY,
  value text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now()
);

-- Who may do a piece of work now: (name) is held by holder until lease_until.
CREATE TABLE leases (
  name text PRIMARY KEY,
  holder text NOT NULL,
  lease_until timestamptz NOT NULL
);

-- Accounts and money --------------------------------------------------------------------------------------------------

CREATE TABLE accounts (
  id text COLLATE "C" PRIMARY KEY,
  email text NOT NULL,
  -- The address in its canonical form: one account per mailbox.
  mailbox text NOT NULL UNIQUE,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'frozen', 'deleted')),
  -- Price in dollars of the largest pack bought; 0: none. Kept here, in the purchase's transaction, because every request and every match needs it.
  pack smallint NOT NULL DEFAULT 0 CHECK (pack IN (0, 9, 29, 79)),
  -- Changes only together with a row in ledger_entries.
  balance bigint NOT NULL DEFAULT 0 CHECK (balance >= 0),
  created_at timestamptz NOT NULL DEFAULT service_now()
);

CREATE TABLE api_keys (
  -- The public part of the key.
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  name text NOT NULL,
  -- SHA-256 of the whole key.
  hash bytea NOT NULL,
  scopes text[] NOT NULL DEFAULT '{forum:read}',
  created_at timestamptz NOT NULL DEFAULT service_now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_keys_account ON api_keys (account_id);

-- Append-only.
CREATE TABLE ledger_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  -- grant, pack, refund, monitor_create, monitor_resume, monitor_renewal, read
  kind text NOT NULL,
  amount bigint NOT NULL CHECK (amount <> 0),
  balance_after bigint NOT NULL CHECK (balance_after >= 0),
  -- What was charged or granted; makes repeating it harmless.
  reference text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  UNIQUE (account_id, kind, reference)
);
CREATE INDEX ledger_entries_account ON ledger_entries (account_id, id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME; END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON ledger_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE packs_bought (
  -- The payment's own id, or the grant's reference.
  id text PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  pack smallint NOT NULL CHECK (pack IN (9, 29, 79)),
  credits bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now()
);
CREATE INDEX packs_bought_account ON packs_bought (account_id);

-- Monitors ------------------------------------------------------------------------------------------------------------

CREATE TABLE monitors (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  name text NOT NULL,
  keywords text[] NOT NULL,
  exclude text[] NOT NULL DEFAULT '{}',
  -- Without r/, as the user wrote them; empty: everywhere.
  subreddits text[] NOT NULL DEFAULT '{}',
  posts boolean NOT NULL DEFAULT true,
  comments boolean NOT NULL DEFAULT true,
  nsfw boolean NOT NULL DEFAULT false,
  webhook_url text,
  webhook_kind text CHECK (webhook_kind IN ('generic', 'slack', 'discord')),
  -- Encrypted with the installation's secret key, as is the one before a rotation.
  webhook_secret bytea NOT NULL,
  previous_webhook_secret bytea,
  previous_secret_until timestamptz,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'paused_balance', 'deleted')),
  -- Grows when a matching field changes; its start is in monitor_versions.
  version integer NOT NULL DEFAULT 1,
  -- Real time (wall_now) of the last create or resume.
  active_since timestamptz NOT NULL,
  -- Grows with each create, resume and renewal; (monitor, period_no) is charged once.
  period_no integer NOT NULL DEFAULT 1,
  next_charge_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  updated_at timestamptz NOT NULL DEFAULT service_now(),
  CHECK ((webhook_url IS NULL) = (webhook_kind IS NULL))
);
CREATE INDEX monitors_account ON monitors (account_id, created_at, id) WHERE status <> 'deleted';
CREATE INDEX monitors_active ON monitors (id) WHERE status = 'active';
CREATE INDEX monitors_due ON monitors (next_charge_at) WHERE status = 'active';

-- Real time (wall_now) at which each rule version began.
CREATE TABLE monitor_versions (
  monitor_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (monitor_id, version)
);
CREATE INDEX monitor_versions_since ON monitor_versions (since);

-- The monitor's lock. No row: the monitor does not exist any more. Half-empty pages keep its frequent updates in place (HOT).
CREATE TABLE monitor_counters (
  monitor_id text COLLATE "C" PRIMARY KEY,
  last_seq bigint NOT NULL DEFAULT 0,
  last_match_at timestamptz,
  -- UTC. Days never go backwards, even when a clock does.
  last_day date
) WITH (fillfactor = 50);

CREATE TABLE monitor_days (
  monitor_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  -- Excluding suppressed ones.
  matches integer NOT NULL DEFAULT 0,
  suppressed integer NOT NULL DEFAULT 0,
  PRIMARY KEY (monitor_id, day)
) WITH (fillfactor = 50);

-- No row: no failures.
CREATE TABLE monitor_health (
  monitor_id text COLLATE "C" PRIMARY KEY,
  failures integer NOT NULL DEFAULT 0,
  webhook_failing boolean NOT NULL DEFAULT false
);

-- Matches -------------------------------------------------------------------------------------------------------------

-- The content of a thing as it was first matched.
CREATE TABLE matched_items (
  thing_id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('post', 'comment')),
  post_id text NOT NULL,
  parent_id text,
  subreddit text NOT NULL,
  author text NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  permalink text NOT NULL,
  nsfw boolean NOT NULL,
  created_utc timestamptz NOT NULL,
  kept_until timestamptz NOT NULL
);
CREATE INDEX matched_items_kept_until ON matched_items (kept_until);

CREATE TABLE matches (
  monitor_id text COLLATE "C" NOT NULL,
  -- 1, 2, 3 … without holes, given under the monitor's lock.
  seq bigint NOT NULL,
  thing_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  entered_at timestamptz NOT NULL,
  first_seen_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  matched_terms text[] NOT NULL,
  suppressed boolean NOT NULL,
  first_delivery text NOT NULL CHECK (first_delivery IN ('none', 'pending', 'skipped')),
  delivery_status text NOT NULL CHECK (delivery_status IN ('none', 'pending', 'delivered', 'failed', 'skipped')),
  -- Attempts made, over resends too.
  attempt integer NOT NULL DEFAULT 0,
  -- Attempts made since the match was last queued: the position on the retry ladder.
  ladder_step integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  lease_token uuid,
  lease_until timestamptz,
  delivered_at timestamptz,
  PRIMARY KEY (monitor_id, seq),
  UNIQUE (monitor_id, thing_id)
);
-- The deliverer's queue: a loose scan visits each monitor that has pending rows once, so a dead endpoint costs one probe.
CREATE INDEX matches_pending ON matches (monitor_id, next_attempt_at) WHERE delivery_status = 'pending';

CREATE TABLE delivery_attempts (
  monitor_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  attempt integer NOT NULL,
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  webhook_kind text NOT NULL,
  host text NOT NULL,
  status integer NOT NULL,
  error text,
  response_excerpt text,
  delivery_status text NOT NULL,
  next_attempt_at timestamptz,
  -- When it was acknowledged on monitor.deliveries.
  published_at timestamptz,
  PRIMARY KEY (monitor_id, seq, attempt)
);
CREATE INDEX delivery_attempts_unpublished ON delivery_attempts (started_at) WHERE published_at IS NULL;

-- Things deleted or removed on the forum: consulted wherever content is written.
CREATE TABLE removed_things (
  thing_id text COLLATE "C" PRIMARY KEY,
  at timestamptz NOT NULL
);
CREATE INDEX removed_things_at ON removed_things (at);

-- Crawling ------------------------------------------------------------------------------------------------------------

CREATE TABLE crawl_cursors (
  source text PRIMARY KEY,
  -- What the source needs to go on: its own shape.
  position jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT service_now()
);

-- Stretches that a source may have missed: opened when noticed, filled when made good.
CREATE TABLE crawl_gaps (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source text NOT NULL,
  reason text NOT NULL,
  -- The last thing seen before and the first one after, where the source knows them.
  after_thing text,
  before_thing text,
  opened_at timestamptz NOT NULL,
  filled_at timestamptz
);
CREATE INDEX crawl_gaps_open ON crawl_gaps (source, opened_at) WHERE filled_at IS NULL;
