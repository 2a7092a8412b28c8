-- Identifiers compare byte by byte (COLLATE "C"): lock order and match order must not depend on a server's locale.

-- Time ----------------------------------------------------------------------------------------------------------------

-- Shifts service_now(), so that tests see days, renewals and retention pass without waiting. A real database cannot.
CREATE TABLE service_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  shift interval NOT NULL DEFAULT '0',
  -- When set, service_now() stands still there.
  frozen_at timestamptz CHECK (frozen_at IS NULL OR current_database() ~ '^forum_test_'),
  CHECK (shift = '0' OR current_database() ~ '^forum_test_')
);
INSERT INTO service_clock DEFAULT VALUES;

-- The service's time, in milliseconds. Volatile: write (SELECT service_now()) in conditions, or no index serves them.
CREATE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$ SELECT date_trunc('milliseconds', coalesce(frozen_at, clock_timestamp() + shift)) FROM service_clock $$;

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
  -- Price in dollars of the largest pack bought; 0: none. Kept here, in the purchase's transaction, because every
  -- request and every match needs it.
  pack smallint NOT NULL DEFAULT 0 CHECK (pack IN (0, 9, 29, 79)),
  -- Changes only together with a row in ledger_entries.
  balance bigint NOT NULL DEFAULT 0 CHECK (balance >= 0),
  created_at timestamptz NOT NULL DEFAULT service_now(),
  -- Credits of a refunded pack that were spent before; what is credited later pays them first.
  owed bigint NOT NULL DEFAULT 0 CHECK (owed >= 0)
);

CREATE TABLE api_keys (
  -- The public part of the key.
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  name text NOT NULL,
  -- SHA-256 of the whole key.
  hash bytea NOT NULL,
  scopes text[] NOT NULL DEFAULT '{forum:read,monitors:read,monitors:write,account}',
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
  -- A correction of the balance alone, or of entries that did not follow from each other, moves no credits.
  amount bigint NOT NULL CONSTRAINT ledger_entries_amount_check CHECK (amount <> 0 OR kind = 'correction'),
  balance_after bigint NOT NULL CHECK (balance_after >= 0),
  -- What was charged or granted; makes repeating it harmless.
  reference text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  -- The request that caused the charge, as in X-Request-Id and in the logs; null for renewals. The client may choose
  -- it, so it need not be unique.
  request_id text,
  -- Method and path of the API, also for tool calls.
  route text,
  -- null: an access token, not a key.
  key_id text COLLATE "C",
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
  created_at timestamptz NOT NULL DEFAULT service_now(),
  -- A refunded pack gives no limits any more.
  refunded_at timestamptz,
  -- How many of its credits are taken back: all of them after a full refund, some after a partial one, and none again
  -- after a dispute that was won.
  taken_back bigint NOT NULL DEFAULT 0 CHECK (taken_back BETWEEN 0 AND credits),
  -- Numbers the changes of taken_back, for the references of their ledger rows.
  changes integer NOT NULL DEFAULT 0,
  -- Taken back for good, by an operator or because it was a trial: no refund or dispute changes it any more.
  withdrawn boolean NOT NULL DEFAULT false
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
  -- The members of RuleRefinements (shared/matching/rule.ts) that are in use; null: none. A change of any of them
  -- starts a new version.
  refinements jsonb CHECK (jsonb_typeof(refinements) = 'object' AND refinements <> '{}'),
  -- At most one match a thread and UTC day; further ones are suppressed. A change starts no version: the recorder reads
  -- it under the monitor's lock.
  thread_once boolean NOT NULL DEFAULT false,
  -- Whether spikes are sent to the webhook.
  spike_webhook boolean NOT NULL DEFAULT false,
  -- Null: each match is delivered by itself. The recorder reads it under the monitor's lock.
  digest text CHECK (digest IN ('hourly', 'daily')),
  CHECK ((webhook_url IS NULL) = (webhook_kind IS NULL))
);
CREATE INDEX monitors_account ON monitors (account_id, created_at, id) WHERE status <> 'deleted';
CREATE INDEX monitors_of_deleted ON monitors (account_id) WHERE status = 'deleted';
CREATE INDEX monitors_active ON monitors (id) WHERE status = 'active';
CREATE INDEX monitors_due ON monitors (next_charge_at) WHERE status = 'active';
-- The copy of monitors in ClickHouse asks every few seconds for those that changed.
CREATE INDEX monitors_updated ON monitors (updated_at);

-- Real time (wall_now) at which each rule version began.
CREATE TABLE monitor_versions (
  monitor_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  since timestamptz NOT NULL,
  -- What is matched by this version, as shared/matching knows rules.
  rule jsonb,
  PRIMARY KEY (monitor_id, version)
);
CREATE INDEX monitor_versions_since ON monitor_versions (since);

-- The monitor's lock. No row: the monitor does not exist any more. Half-empty pages keep its frequent updates in place
-- (HOT).
CREATE TABLE monitor_counters (
  monitor_id text COLLATE "C" PRIMARY KEY,
  last_seq bigint NOT NULL DEFAULT 0,
  last_match_at timestamptz,
  -- UTC. Days never go backwards, even when a clock does.
  last_day date,
  -- The latest entered_at of matches that were not stored: what entered until then and has no match gets none on a
  -- later day either, when it is read again.
  not_stored_until timestamptz,
  -- The latest entered_at of a candidate that thread_once suppressed and that was not stored because it was beyond the
  -- ceiling of suppressed matches. Whatever entered until then becomes no match on a later day.
  threads_not_stored_until timestamptz
) WITH (fillfactor = 50);

CREATE TABLE monitor_days (
  monitor_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  -- Excluding suppressed ones.
  matches integer NOT NULL DEFAULT 0,
  suppressed integer NOT NULL DEFAULT 0,
  -- Matches beyond the ceiling of suppressed matches a day are not stored. How many there were; approximate, since a
  -- batch that is repeated counts them again.
  suppressed_not_stored bigint NOT NULL DEFAULT 0,
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
  -- Whether the match was queued again by its owner: then its failure counts nowhere.
  resent boolean NOT NULL DEFAULT false,
  -- When the owner last queued the match again. The match has waited for its delivery since then, and not since it was
  -- recorded.
  resent_at timestamptz,
  -- thread_once: the thread had a match on that day. Null for matches over the daily cap, and for all others.
  suppressed_reason text,
  -- Found in the archive by a backfill, not when the thing was new. entered_at is then the time of its first sight.
  backfill boolean NOT NULL DEFAULT false,
  PRIMARY KEY (monitor_id, seq),
  UNIQUE (monitor_id, thing_id)
);
-- The deliverer's queue: a loose scan visits each monitor that has pending rows once, so a dead endpoint costs one
-- probe.
CREATE INDEX matches_pending ON matches (monitor_id, next_attempt_at) WHERE delivery_status = 'pending';
-- The pending match that has waited longest, and the first thousand pending ones.
CREATE INDEX matches_pending_since ON matches (monitor_id, (coalesce(resent_at, created_at)))
  WHERE delivery_status = 'pending';

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
-- The last attempt with each outcome, and the attempts of the last day that failed.
CREATE INDEX delivery_attempts_outcomes ON delivery_attempts (monitor_id, delivery_status, started_at);
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
  -- The last item seen before and the first one after, where the source knows them.
  after_thing text,
  before_thing text,
  opened_at timestamptz NOT NULL,
  filled_at timestamptz,
  -- What the gap covers, so that completeness can be computed per minute: everything the source lists that was created
  -- from after_at to before_at, by the forum's dates. Null: not known (a gap without after_at has no lower bound).
  after_at timestamptz,
  before_at timestamptz,
  -- Things of the stretch that were found since the gap was opened.
  found bigint NOT NULL DEFAULT 0,
  outcome text,
  -- The communities whose listing has the gap, so that only their threads are read for it. Null: any community.
  communities text[],
  CONSTRAINT crawl_gaps_outcome CHECK (outcome IN ('filled', 'given_up')),
  CONSTRAINT crawl_gaps_closed CHECK ((filled_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX crawl_gaps_open ON crawl_gaps (source, opened_at) WHERE filled_at IS NULL;
-- Lists of gaps by time, and their retention.
CREATE INDEX crawl_gaps_opened ON crawl_gaps (opened_at);
CREATE INDEX crawl_gaps_closed ON crawl_gaps (filled_at) WHERE filled_at IS NOT NULL;

-- What each account may still ask: one row an account, taken from by every request before its work begins. Apart from
-- accounts, whose rows are locked while monitors start. Half-empty pages keep the updates in place (HOT).
CREATE TABLE account_limits (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts,
  -- When the burst is whole again: the theoretical arrival time of the generic cell rate algorithm.
  burst_whole_at timestamptz NOT NULL DEFAULT '-infinity',
  -- UTC, and the requests of that day that count.
  day date NOT NULL DEFAULT '-infinity',
  day_requests integer NOT NULL DEFAULT 0 CHECK (day_requests >= 0),
  -- Matches that the account sent again on a UTC day.
  resend_day date NOT NULL DEFAULT '-infinity',
  day_resends integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

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
  -- Heads of the topics at a later moment, by topic and partition: once they are archived, nothing of the account can
  -- arrive any more.
  archive_offsets jsonb,
  finished_at timestamptz
);
CREATE INDEX account_erasures_open ON account_erasures (deleted_at) WHERE finished_at IS NULL;

-- Sign-up -------------------------------------------------------------------------------------------------------------

-- Sign-ups that wait for their code. Swept an hour after they expire.
CREATE TABLE signups (
  -- SHA-256 of the token that the client holds.
  token_hash bytea PRIMARY KEY,
  -- The address as it was given: mail goes there.
  email text NOT NULL,
  mailbox text NOT NULL,
  -- HMAC of the code, keyed with the installation's secret key. A mailbox that wrong codes were tried for gets a link.
  code_hash bytea,
  wrong_codes smallint NOT NULL DEFAULT 0 CHECK (wrong_codes BETWEEN 0 AND 3),
  created_at timestamptz NOT NULL DEFAULT service_now(),
  expires_at timestamptz NOT NULL,
  -- A code for the dashboard opens no program, and a code for a program opens no session. address: a change of the
  -- account's address is confirmed with a code at the old address and one at the new.
  purpose text NOT NULL DEFAULT 'signup'
    CHECK (purpose IN ('signup', 'signin', 'recovery', 'dashboard', 'address')),
  -- SHA-256 of the link's 130 random bits.
  link_hash bytea UNIQUE,
  -- Of a sign-in: the id of the page that its link leads back to, of use only with that page's cookie.
  interaction text,
  link_used_at timestamptz,
  CONSTRAINT signups_code_or_link CHECK ((code_hash IS NULL) <> (link_hash IS NULL))
);
CREATE INDEX signups_expires_at ON signups (expires_at);

-- Mailboxes that got their free credits, as a keyed hash: it outlives the account.
CREATE TABLE credited_mailboxes (
  mailbox_hash bytea PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT service_now(),
  -- Credits that a deleted account of the mailbox owed after a chargeback. The next account of the mailbox owes them
  -- instead, so that nobody buys, spends and charges back again.
  owed bigint NOT NULL DEFAULT 0 CHECK (owed >= 0)
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

-- Open streams --------------------------------------------------------------------------------------------------------

-- Open streams of matches. An account has as many slots as it may have streams: the primary key holds the limit,
-- however many processes serve them. Half-empty pages keep the renewals in place (HOT).
CREATE TABLE live_tails (
  account_id text COLLATE "C" NOT NULL,
  place smallint NOT NULL CHECK (place > 0),
  stream_id uuid NOT NULL,
  -- Renewed while the stream is open; past it the place is free.
  lease_until timestamptz NOT NULL,
  PRIMARY KEY (account_id, place)
) WITH (fillfactor = 50);

-- Sign-in of the tool server ------------------------------------------------------------------------------------------

-- What the tool server's sign-in keeps: clients, codes, tokens, grants, and sign-ins under way.
CREATE TABLE oauth_records (
  -- SHA-256 of the id, which is the secret itself for codes and tokens.
  id_hash bytea PRIMARY KEY,
  -- Client, ClientDocument, Interaction, Grant, AuthorizationCode, AccessToken, RefreshToken
  model text NOT NULL,
  -- The id_hash of the grant that it belongs to. Without its grant, no code or token is worth anything.
  grant_hash bytea,
  account_id text COLLATE "C" REFERENCES accounts,
  -- Of access tokens: what they allow, and where.
  scopes text[],
  audience text,
  -- All about it but its id, encrypted with the installation's secret key.
  payload bytea NOT NULL,
  written_at timestamptz NOT NULL DEFAULT service_now(),
  expires_at timestamptz NOT NULL,
  -- When a code was exchanged, or a refresh token was replaced.
  consumed_at timestamptz,
  -- Of grants: the last call with one of its tokens, to the minute.
  last_used_at timestamptz,
  -- Of clients and their documents: when somebody first allowed them something. Until then no error is sent to their
  -- redirects.
  allowed_at timestamptz
);
CREATE INDEX oauth_records_grant ON oauth_records (grant_hash) WHERE grant_hash IS NOT NULL;
CREATE INDEX oauth_records_account ON oauth_records (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX oauth_records_expires_at ON oauth_records (expires_at);

-- The forum's budget, coverage ----------------------------------------------------------------------------------------

-- What each process last said of its calls to the forum, so that all together keep to one budget. A row a process,
-- written twice a second: unlogged, because a report is worthless after seconds, and half-empty pages keep the updates
-- in place (HOT).
CREATE UNLOGGED TABLE budget_reports (
  process_id text COLLATE "C" PRIMARY KEY,
  reported_at timestamptz NOT NULL,
  report jsonb NOT NULL
) WITH (fillfactor = 50);

-- A thread that the audit read completely: how many of its comments it showed, and how many of those had been seen
-- before. weight: one over the probability with which the thread was chosen.
CREATE TABLE audit_samples (
  hour timestamptz NOT NULL,
  post_id text COLLATE "C" NOT NULL,
  weight float8 NOT NULL CHECK (weight > 0),
  seen integer NOT NULL CHECK (seen >= 0),
  total integer NOT NULL CHECK (total >= seen),
  PRIMARY KEY (hour, post_id)
);

-- Calls to the forum by hour and lane, added up by all processes every half minute. refused: asked for and not made,
-- because nothing was left for the lane; a refused caller asks again, so one call can be refused several times.
CREATE TABLE forum_calls (
  hour timestamptz NOT NULL,
  lane text COLLATE "C" NOT NULL,
  taken bigint NOT NULL,
  refused bigint NOT NULL,
  PRIMARY KEY (hour, lane)
) WITH (fillfactor = 50);

-- What is known of an hour, written again whenever it changes. coverage: in the shape of
-- shared/crawl/rules/coverage.ts.
CREATE TABLE coverage_hours (
  hour timestamptz PRIMARY KEY,
  -- Rows of the hour in the archive when its items were counted, repeated ones included: another number, and they are
  -- counted again.
  archived_rows bigint NOT NULL,
  coverage jsonb NOT NULL,
  -- Calls a second that the forum's windows allowed, as last known in the hour.
  calls_per_second float8,
  computed_at timestamptz NOT NULL
);

-- What is left of a count after a time.
CREATE FUNCTION daily_decay(earlier timestamptz, later timestamptz) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT exp(-greatest(0, extract(epoch FROM later - earlier)::float8) / 86400) $$;

-- How active each community is, as counts that decay by a factor of e a day: a count divided by 86,400 is a rate per
-- second. Every crawler process adds what it published once a minute; the 200,000 most active are kept. Half-empty
-- pages keep the updates in place (HOT).
CREATE TABLE community_rates (
  subreddit text COLLATE "C" PRIMARY KEY,
  comments float8 NOT NULL,
  posts float8 NOT NULL,
  first_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Usage ---------------------------------------------------------------------------------------------------------------

-- Charges by UTC day, route and key, so that usage is read at a cost that does not grow with the number of charges.
-- Kept as long as the ledger. A row is only written while its account is locked, since every charge locks it.
-- Half-empty pages keep the updates in place (HOT).
CREATE TABLE usage_days (
  account_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  -- Empty: charged without a request.
  route text COLLATE "C" NOT NULL,
  -- Empty: charged without a key.
  key_id text COLLATE "C" NOT NULL,
  charges bigint NOT NULL,
  credits bigint NOT NULL,
  PRIMARY KEY (account_id, day, route, key_id)
) WITH (fillfactor = 50);

-- A trigger, so that a ledger row and its usage are one statement, whoever writes it. Refunds and corrections are not
-- usage.
CREATE FUNCTION count_usage() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  INSERT INTO usage_days AS stored (account_id, day, route, key_id, charges, credits)
  SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, coalesce(route, ''), coalesce(key_id, ''), count(*), sum(-amount)
  FROM added
  WHERE amount < 0 AND kind NOT IN ('refund', 'correction')
  GROUP BY 1, 2, 3, 4
  ON CONFLICT (account_id, day, route, key_id) DO UPDATE
    SET charges = stored.charges + excluded.charges, credits = stored.credits + excluded.credits;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_usage AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_usage();

-- Mutes, threads ------------------------------------------------------------------------------------------------------

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

-- Dashboard -----------------------------------------------------------------------------------------------------------

-- Sessions of people in the dashboard.
CREATE TABLE dashboard_sessions (
  -- SHA-256 of the 160 random bits in the browser's cookie.
  token_hash bytea PRIMARY KEY,
  -- Names the session in lists and forms. It is not a secret.
  id text COLLATE "C" NOT NULL UNIQUE,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  -- Where the person signed in: a /24 or a /64, and the browser's own words, cut.
  network text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  -- To the minute.
  last_seen_at timestamptz NOT NULL DEFAULT service_now(),
  expires_at timestamptz NOT NULL,
  -- Signed out or revoked. The row stays until it would have expired, because it tells a known network from a new one.
  ended_at timestamptz
);
CREATE INDEX dashboard_sessions_account ON dashboard_sessions (account_id);
CREATE INDEX dashboard_sessions_expires_at ON dashboard_sessions (expires_at);

-- Payments ------------------------------------------------------------------------------------------------------------

-- Packs bought with money. A payment is written before its checkout begins, and only a signed event of the payment
-- provider, or the provider's own list, marks it as paid.

CREATE TABLE payments (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  pack smallint NOT NULL CHECK (pack IN (9, 29, 79)),
  -- In the currency's smallest unit, before tax. What was offered then, whatever the table of packs says later.
  amount bigint NOT NULL CHECK (amount > 0),
  currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
  credits bigint NOT NULL CHECK (credits > 0),
  -- trial: the payment simulator; test: a test key of the provider. Neither moves money.
  mode text NOT NULL CHECK (mode IN ('trial', 'test', 'live')),
  -- started → paid, expired or failed; unclaimed: paid for an account that was deleted meanwhile, and credited to
  -- nobody; voided: without money, and taken back when money came into play.
  status text NOT NULL DEFAULT 'started'
    CHECK (status IN ('started', 'paid', 'expired', 'failed', 'unclaimed', 'voided')),
  -- The provider's checkout session, once it is known.
  session_id text UNIQUE,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  paid_at timestamptz
);
CREATE INDEX payments_account ON payments (account_id, created_at DESC);
CREATE INDEX payments_without_money ON payments (mode) WHERE mode <> 'live' AND status IN ('started', 'paid');
CREATE INDEX payments_abandoned ON payments (created_at) WHERE status IN ('started', 'expired', 'failed');

-- What is known of the money of a payment, by the provider's payment intent. Refunds and disputes may be known before
-- the payment itself. Purchase, refund and dispute lock this row first, so that the later of two sees the earlier.
CREATE TABLE payment_charges (
  payment_intent text COLLATE "C" PRIMARY KEY,
  payment_id text COLLATE "C" UNIQUE REFERENCES payments,
  -- What was charged, with tax; null until a refund names it.
  charged bigint CHECK (charged > 0),
  -- The highest sum of refunds that was named.
  refunded bigint NOT NULL DEFAULT 0 CHECK (refunded >= 0),
  first_seen_at timestamptz NOT NULL DEFAULT service_now()
);
CREATE INDEX payment_charges_unknown ON payment_charges (first_seen_at) WHERE payment_id IS NULL;

CREATE TABLE payment_disputes (
  id text COLLATE "C" PRIMARY KEY,
  payment_intent text COLLATE "C" NOT NULL REFERENCES payment_charges ON DELETE CASCADE,
  -- won and lost are final.
  outcome text NOT NULL CHECK (outcome IN ('open', 'won', 'lost'))
);
CREATE INDEX payment_disputes_intent ON payment_disputes (payment_intent);

-- Events of the provider whose effect is committed.
CREATE TABLE payment_events (
  id text COLLATE "C" PRIMARY KEY,
  seen_at timestamptz NOT NULL DEFAULT service_now()
);
CREATE INDEX payment_events_seen_at ON payment_events (seen_at);

-- Notices -------------------------------------------------------------------------------------------------------------

-- Notices by mail: what may cause one, what each mail says, and what an account does not want to be told.

-- Changes that may become a notice. The triggers below write them in the transaction of the change, so that none is
-- missed and looking for them costs nothing while nothing changes.
CREATE TABLE notice_causes (
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('monitor_paused', 'webhook_failing')),
  monitor_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  -- A minute after the change, so that one mail names what happens together; the next UTC day when the account had a
  -- mail of the kind today.
  due_at timestamptz NOT NULL,
  PRIMARY KEY (monitor_id, kind)
);
CREATE INDEX notice_causes_due ON notice_causes (due_at);
CREATE INDEX notice_causes_account ON notice_causes (account_id, kind);

CREATE FUNCTION note_paused_monitor() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  INSERT INTO notice_causes (kind, monitor_id, account_id, due_at)
  VALUES ('monitor_paused', NEW.id, NEW.account_id, service_now() + interval '1 minute')
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER monitors_paused AFTER UPDATE OF status ON monitors
  FOR EACH ROW WHEN (NEW.status = 'paused_balance' AND OLD.status <> 'paused_balance')
  EXECUTE FUNCTION note_paused_monitor();

CREATE FUNCTION note_failing_webhook() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  INSERT INTO notice_causes (kind, monitor_id, account_id, due_at)
  SELECT 'webhook_failing', id, account_id, service_now() + interval '1 minute' FROM monitors WHERE id = NEW.monitor_id
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
-- After 10 failures in a row, and when the webhook is marked as failing.
CREATE TRIGGER monitor_health_failing AFTER UPDATE ON monitor_health
  FOR EACH ROW WHEN ((NEW.failures >= 10 AND OLD.failures < 10) OR (NEW.webhook_failing AND NOT OLD.webhook_failing))
  EXECUTE FUNCTION note_failing_webhook();

-- Mails of notices, at most one per account, kind and UTC day: the key is the claim. No reference to accounts, because
-- its check would wait for their locks.
CREATE TABLE notices (
  account_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('low_balance', 'monitor_paused', 'webhook_failing', 'webhook_recovered')),
  day date NOT NULL,
  -- What the mail says; empty once it is settled.
  facts jsonb NOT NULL,
  found_at timestamptz NOT NULL DEFAULT service_now(),
  -- Null: waits to be mailed.
  outcome text CHECK (outcome IN ('sent', 'expired', 'unwanted')),
  attempts integer NOT NULL DEFAULT 0,
  -- While a process mails it: when another one may take it over.
  next_attempt_at timestamptz NOT NULL DEFAULT service_now(),
  lease_token uuid,
  PRIMARY KEY (account_id, kind, day)
);
CREATE INDEX notices_waiting ON notices (next_attempt_at) WHERE outcome IS NULL;
CREATE INDEX notices_found ON notices (found_at);

-- Webhooks whose owner was told that they fail, until they work again.
CREATE TABLE webhook_alarms (
  monitor_id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  told_at timestamptz NOT NULL DEFAULT service_now(),
  check_at timestamptz NOT NULL DEFAULT service_now()
);
CREATE INDEX webhook_alarms_check ON webhook_alarms (check_at);
CREATE INDEX webhook_alarms_account ON webhook_alarms (account_id);

-- Kinds of notices that an account has switched off.
CREATE TABLE notice_opt_outs (
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  kind text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, kind)
);

-- Backfills -----------------------------------------------------------------------------------------------------------

-- Backfills: matches of the archive that become matches of a monitor.

-- A run of a backfill. Its progress is committed with the matches that it records and with their charge. Written with
-- the monitor's lock held, except for the lease.
CREATE TABLE backfills (
  id text COLLATE "C" PRIMARY KEY,
  monitor_id text COLLATE "C" NOT NULL,
  -- No reference to accounts, because its check would wait for their locks.
  account_id text COLLATE "C" NOT NULL,
  -- The rule that the run matches by, and its version: those of when the run was asked for.
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
  -- The process that works on it, until when, and when it last took it up: accounts alternate.
  lease_token uuid,
  lease_until timestamptz,
  taken_at timestamptz,
  -- No process takes it up before: an engine was unavailable, or the archive is not up to date.
  next_at timestamptz NOT NULL DEFAULT service_now(),
  -- Unexpected errors in a row.
  faults integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  ended_at timestamptz,
  -- When the owner cancelled the run. Written with the monitor's lock held, under which matches are recorded: nothing
  -- is recorded afterwards. The recorder ends the run, as cancelled, when what it had recorded is published.
  cancelled_at timestamptz
);
-- One running run a monitor.
CREATE UNIQUE INDEX backfills_running ON backfills (monitor_id) WHERE state = 'running';
-- The newest runs of a monitor; erasure.
CREATE INDEX backfills_monitor ON backfills (monitor_id, created_at);
CREATE INDEX backfills_ended ON backfills (ended_at);

-- SQL -----------------------------------------------------------------------------------------------------------------

-- POST /v1/sql: one statement of an account at a time, in all processes, and what its failed ones took today.
CREATE TABLE sql_statements (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts,
  -- The UTC day of failed_ms.
  day date NOT NULL,
  failed_ms integer NOT NULL DEFAULT 0,
  -- While a statement runs: whose it is, and when a process that died is not waited for any more.
  running_token uuid,
  running_until timestamptz
);

-- History of monitors -------------------------------------------------------------------------------------------------

-- Each state of a monitor from its beginning on, in real time (wall_now), for 30 days.
CREATE TABLE monitor_states (
  monitor_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  status text NOT NULL,
  PRIMARY KEY (monitor_id, at)
);

-- By a trigger, so that every way to stop or start a monitor is in it.
CREATE FUNCTION note_monitor_state() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  INSERT INTO monitor_states (monitor_id, at, status)
  VALUES (NEW.id, CASE NEW.status WHEN 'active' THEN NEW.active_since ELSE wall_now() END, NEW.status)
  ON CONFLICT (monitor_id, at) DO UPDATE SET status = excluded.status;
  RETURN NULL;
END $$;
CREATE TRIGGER monitors_state AFTER INSERT OR UPDATE OF status ON monitors
  FOR EACH ROW WHEN (NEW.status <> 'deleted') EXECUTE FUNCTION note_monitor_state();

-- Events and digests --------------------------------------------------------------------------------------------------

-- What a monitor's webhook is told beside its matches.
CREATE TABLE monitor_events (
  -- The order of the events of a monitor.
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What receivers tell repeated deliveries by.
  id text COLLATE "C" NOT NULL UNIQUE,
  monitor_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('monitor.spike', 'monitor.digest')),
  -- What the event is about, as its finder names it: an event is stored once a monitor, kind and key.
  key text COLLATE "C" NOT NULL,
  -- monitor.spike: the spike as it is sent. monitor.digest: the range of seqs that the body is built from.
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  delivery_status text COLLATE "C" NOT NULL DEFAULT 'pending'
    CHECK (delivery_status IN ('pending', 'delivered', 'failed', 'skipped')),
  -- Attempts made so far.
  attempt integer NOT NULL DEFAULT 0,
  -- Null unless pending.
  next_attempt_at timestamptz DEFAULT service_now(),
  delivered_at timestamptz,
  -- The last attempt: its answer (0: none) and what was wrong with it (null: nothing).
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  -- While a process attempts it.
  lease_token uuid,
  lease_until timestamptz,
  UNIQUE (monitor_id, kind, key)
);
CREATE INDEX monitor_events_pending ON monitor_events (monitor_id, next_attempt_at) WHERE delivery_status = 'pending';
-- The newest events of a monitor; whether its webhook works again.
CREATE INDEX monitor_events_monitor ON monitor_events (monitor_id, seq);
CREATE INDEX monitor_events_created ON monitor_events (created_at);

-- The matches that go into digests, as ranges of seqs: after after_seq, and up to until_seq once the digest is switched
-- off. Written by the trigger below with the monitor's lock held, and advanced by the biller.
CREATE TABLE monitor_digests (
  monitor_id text COLLATE "C" NOT NULL,
  -- Everything up to here was put into a digest, or was delivered by itself.
  after_seq bigint NOT NULL,
  -- Null: the digest is on.
  until_seq bigint,
  period text COLLATE "C" NOT NULL CHECK (period IN ('hourly', 'daily')),
  due_at timestamptz NOT NULL,
  PRIMARY KEY (monitor_id, after_seq)
);
CREATE INDEX monitor_digests_due ON monitor_digests (due_at);

-- The next full hour or midnight, in UTC.
CREATE FUNCTION next_digest_at(period text) RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT CASE period
     WHEN 'hourly' THEN date_trunc('hour', service_now(), 'UTC') + interval '1 hour'
     ELSE date_trunc('day', service_now(), 'UTC') + interval '24 hours'
   END $$;

-- By a trigger, so that every change of a monitor begins and ends its ranges exactly where the recorder begins and ends
-- to deliver matches by themselves.
CREATE FUNCTION note_digest_change() RETURNS trigger LANGUAGE plpgsql AS
$$ DECLARE
  recorded bigint := coalesce((SELECT last_seq FROM monitor_counters WHERE monitor_id = NEW.id), 0);
BEGIN
  IF NEW.status = 'deleted' THEN
    DELETE FROM monitor_digests WHERE monitor_id = NEW.id;
  ELSIF NEW.digest IS NULL THEN
    UPDATE monitor_digests SET until_seq = recorded, due_at = service_now()
     WHERE monitor_id = NEW.id AND until_seq IS NULL;
    DELETE FROM monitor_digests WHERE monitor_id = NEW.id AND until_seq <= after_seq;
  ELSE
    UPDATE monitor_digests SET period = NEW.digest, due_at = next_digest_at(NEW.digest)
     WHERE monitor_id = NEW.id AND until_seq IS NULL;
    IF NOT FOUND THEN
      INSERT INTO monitor_digests (monitor_id, after_seq, period, due_at)
      VALUES (NEW.id, recorded, NEW.digest, next_digest_at(NEW.digest));
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER monitors_digest_begins AFTER INSERT ON monitors
  FOR EACH ROW WHEN (NEW.digest IS NOT NULL) EXECUTE FUNCTION note_digest_change();
CREATE TRIGGER monitors_digest_changes AFTER UPDATE OF digest, status ON monitors
  FOR EACH ROW WHEN (NEW.digest IS DISTINCT FROM OLD.digest OR (NEW.status = 'deleted' AND OLD.status <> 'deleted'))
  EXECUTE FUNCTION note_digest_change();

-- Digests by mail: one mail for all monitors of an account that are due at the same time.
CREATE TABLE digest_mails (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- No reference to accounts, because its check would wait for their locks.
  account_id text COLLATE "C" NOT NULL,
  -- For each monitor the range of seqs and how many matches it has; empty once the mail is settled.
  sections jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  -- Null: waits to be mailed.
  outcome text CHECK (outcome IN ('sent', 'expired', 'unwanted')),
  attempts integer NOT NULL DEFAULT 0,
  -- While a process mails it: when another one may take it over.
  next_attempt_at timestamptz NOT NULL DEFAULT service_now(),
  lease_token uuid
);
-- While a mail waits, the account's further matches wait for the next one.
CREATE UNIQUE INDEX digest_mails_waiting ON digest_mails (account_id) WHERE outcome IS NULL;
CREATE INDEX digest_mails_due ON digest_mails (next_attempt_at) WHERE outcome IS NULL;
CREATE INDEX digest_mails_created ON digest_mails (created_at);

-- Feeds ---------------------------------------------------------------------------------------------------------------

-- The address of a monitor's feed: one a monitor, so a new one replaces the old.
CREATE TABLE feed_tokens (
  monitor_id text COLLATE "C" PRIMARY KEY,
  -- SHA-256 of the 160 random bits in the address.
  token_hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT service_now()
);

-- Faults --------------------------------------------------------------------------------------------------------------

-- Charges whose commit got no answer, so that their requests were answered 503 and brought nothing. Where such a charge
-- is in the ledger, also later, the biller reverses it and deletes the row.
CREATE TABLE unknown_charges (
  account_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  reference text NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT service_now(),
  -- Those of the charge in ledger_entries.
  PRIMARY KEY (account_id, kind, reference)
);

-- Stretches of a topic that a consumer group never read, because they expired before it or the log was cut. A counter
-- in a process would be lost with it, and its first value is no increase.
CREATE TABLE lost_records (
  consumer_group text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  -- From this offset to before to_offset; equal when nobody knows how many there were.
  from_offset bigint NOT NULL,
  to_offset bigint NOT NULL CHECK (to_offset >= from_offset),
  noticed_at timestamptz NOT NULL,
  PRIMARY KEY (consumer_group, topic, partition, from_offset)
);
CREATE INDEX lost_records_noticed ON lost_records (noticed_at);

-- Networks of sign-ins ------------------------------------------------------------------------------------------------

-- The networks that an account signed in from: they get codes when others have used up those of its mailbox. Found by
-- the mailbox, so that asking for a code reads no accounts.
CREATE TABLE sign_in_networks (
  mailbox text PRIMARY KEY REFERENCES accounts (mailbox) ON UPDATE CASCADE,
  -- /24s and /64s; the newest first, at most five.
  networks text[] NOT NULL
);
