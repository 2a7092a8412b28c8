-- Events of a monitor that are no single match, and digests: matches sent together instead of one by one.

ALTER TABLE monitors
  -- Whether spikes are sent to the webhook.
  ADD COLUMN spike_webhook boolean NOT NULL DEFAULT false,
  -- Null: each match is delivered by itself. The recorder reads it under the monitor's lock.
  ADD COLUMN digest text CHECK (digest IN ('hourly', 'daily'));

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
