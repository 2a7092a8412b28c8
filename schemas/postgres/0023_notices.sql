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

-- A change of the account's address is confirmed with a code at the old address and one at the new.
ALTER TABLE signups
  DROP CONSTRAINT signups_purpose_check,
  ADD CONSTRAINT signups_purpose_check CHECK (purpose IN ('signup', 'signin', 'recovery', 'dashboard', 'address'));
