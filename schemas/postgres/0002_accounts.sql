-- Time ----------------------------------------------------------------------------------------------------------------

-- When set, service_now() stands still there. A real database cannot.
ALTER TABLE service_clock ADD COLUMN frozen_at timestamptz CHECK (frozen_at IS NULL OR current_database() ~ '^forum_test_');

CREATE OR REPLACE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$ SELECT date_trunc('milliseconds', coalesce(frozen_at, clock_timestamp() + shift)) FROM service_clock $$;

-- Accounts and money --------------------------------------------------------------------------------------------------

-- Credits of a refunded pack that were spent before; what is credited later pays them first.
ALTER TABLE accounts ADD COLUMN owed bigint NOT NULL DEFAULT 0 CHECK (owed >= 0);
-- A refunded pack gives no limits any more.
ALTER TABLE packs_bought ADD COLUMN refunded_at timestamptz;

-- What each account may still ask: one row an account, taken from by every request before its work begins. Apart from accounts,
-- whose rows are locked while monitors start. Half-empty pages keep the updates in place (HOT).
CREATE TABLE account_limits (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts,
  -- When the burst is whole again: the theoretical arrival time of the generic cell rate algorithm.
  burst_whole_at timestamptz NOT NULL DEFAULT '-infinity',
  -- UTC, and the requests of that day that count.
  day date NOT NULL DEFAULT '-infinity',
  day_requests integer NOT NULL DEFAULT 0 CHECK (day_requests >= 0)
) WITH (fillfactor = 50);
INSERT INTO account_limits (account_id) SELECT id FROM accounts;

CREATE FUNCTION add_account_limits() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO account_limits (account_id) VALUES (NEW.id); RETURN NULL; END $$;
CREATE TRIGGER accounts_have_limits AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION add_account_limits();

-- Answers of requests with an Idempotency-Key, for 24 hours.
CREATE TABLE idempotency_keys (
  account_id text COLLATE "C" NOT NULL,
  -- Method and path.
  route text NOT NULL,
  key text NOT NULL,
  -- SHA-256 of the body.
  body_hash bytea NOT NULL,
  -- Encrypted with the installation's secret key, since it may hold a webhook secret.
  answer bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  PRIMARY KEY (account_id, route, key)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- Deleted accounts whose data is still being removed from both databases.
CREATE TABLE account_erasures (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts,
  deleted_at timestamptz NOT NULL DEFAULT service_now(),
  -- Monitors whose rows are removed here, and are to be removed from ClickHouse.
  monitor_ids text[] NOT NULL,
  -- When nothing was left in this database.
  erased_here_at timestamptz,
  -- Heads of the topics at a later moment, by topic and partition: once they are archived, nothing of the account can arrive any more.
  archive_offsets jsonb,
  finished_at timestamptz
);
CREATE INDEX account_erasures_open ON account_erasures (deleted_at) WHERE finished_at IS NULL;

CREATE INDEX monitors_of_deleted ON monitors (account_id) WHERE status = 'deleted';

-- Sign-up -------------------------------------------------------------------------------------------------------------

-- Sign-ups that wait for their code. Swept an hour after they expire.
CREATE TABLE signups (
  -- SHA-256 of the token that the client holds.
  token_hash bytea PRIMARY KEY,
  -- The address as it was given: mail goes there.
  email text NOT NULL,
  mailbox text NOT NULL,
  -- HMAC of the code, keyed with the installation's secret key.
  code_hash bytea NOT NULL,
  wrong_codes smallint NOT NULL DEFAULT 0 CHECK (wrong_codes BETWEEN 0 AND 3),
  created_at timestamptz NOT NULL DEFAULT service_now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX signups_expires_at ON signups (expires_at);

-- Mailboxes that got their free credits, as a keyed hash: it outlives the account.
CREATE TABLE credited_mailboxes (
  mailbox_hash bytea PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT service_now()
);

-- Limits of a few uses in any stretch of time: the times of the last ones.
CREATE TABLE recent_uses (
  -- What is limited, for instance a network or a mailbox.
  name text COLLATE "C" PRIMARY KEY,
  -- Ascending.
  times timestamptz[] NOT NULL,
  -- When none of them counts any more.
  kept_until timestamptz NOT NULL
);
CREATE INDEX recent_uses_kept_until ON recent_uses (kept_until);
