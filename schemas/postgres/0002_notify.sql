-- Mails about new matches: the first at once, then at most one in five minutes with what came meanwhile.

ALTER TABLE monitors
  -- Whether matches are mailed to the address of the account, beside every other way in which they are sent.
  ADD COLUMN notify text COLLATE "C" CHECK (notify IN ('email')),
  -- Why it is off, where its owner did not switch it off here.
  ADD COLUMN notify_stopped text COLLATE "C" CHECK (notify_stopped IN ('bounced', 'unsubscribed'));

-- One row for each monitor that has or had notify: up to which match it was mailed, and its mail, made or the last one.
CREATE TABLE match_mails (
  monitor_id text COLLATE "C" PRIMARY KEY,
  -- No reference to accounts, because its check would wait for their locks.
  account_id text COLLATE "C" NOT NULL,
  -- Everything up to here was mailed, or nothing of it is.
  after_seq bigint NOT NULL,
  -- The mail is about the matches after after_seq and up to here, which are so many.
  until_seq bigint NOT NULL,
  matches integer NOT NULL DEFAULT 0,
  made_at timestamptz NOT NULL DEFAULT service_now(),
  -- Null: it waits to be mailed. At first as if there had been one.
  outcome text DEFAULT 'sent' CHECK (outcome IN ('sent', 'expired', 'unwanted')),
  attempts integer NOT NULL DEFAULT 0,
  -- While it waits: when a process may mail it, or take it over from another. Otherwise: when the next one may be made.
  next_attempt_at timestamptz NOT NULL DEFAULT service_now(),
  lease_token uuid
);
CREATE INDEX match_mails_waiting ON match_mails (next_attempt_at) WHERE outcome IS NULL;
CREATE INDEX match_mails_settled ON match_mails (next_attempt_at) WHERE outcome IS NOT NULL;

-- By a trigger, so that it begins after the last match that was recorded without it, whoever changes the monitor. The
-- monitor's lock is held.
CREATE FUNCTION note_notify_change() RETURNS trigger LANGUAGE plpgsql AS
$$ DECLARE
  recorded bigint := coalesce((SELECT last_seq FROM monitor_counters WHERE monitor_id = NEW.id), 0);
BEGIN
  IF NEW.status = 'deleted' THEN
    DELETE FROM match_mails WHERE monitor_id = NEW.id;
  ELSIF NEW.notify IS NULL THEN
    -- The row stays: who switches it off and on again waits as long for the next mail.
    UPDATE match_mails SET outcome = 'unwanted', lease_token = NULL WHERE monitor_id = NEW.id AND outcome IS NULL;
  ELSE
    INSERT INTO match_mails (monitor_id, account_id, after_seq, until_seq)
    VALUES (NEW.id, NEW.account_id, recorded, recorded)
    ON CONFLICT (monitor_id) DO UPDATE SET after_seq = recorded, until_seq = recorded;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER monitors_notify_begins AFTER INSERT ON monitors
  FOR EACH ROW WHEN (NEW.notify IS NOT NULL) EXECUTE FUNCTION note_notify_change();
CREATE TRIGGER monitors_notify_changes AFTER UPDATE OF notify, status ON monitors
  FOR EACH ROW
  WHEN (NEW.notify IS DISTINCT FROM OLD.notify OR (NEW.status = 'deleted' AND OLD.status <> 'deleted'))
  EXECUTE FUNCTION note_notify_change();
