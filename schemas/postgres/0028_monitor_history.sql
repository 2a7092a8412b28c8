-- What a monitor was at any time of the last 30 days, to explain why it matched something then or did not.

-- What is matched by this version, as shared/matching knows rules; null for versions that began before this column.
ALTER TABLE monitor_versions ADD COLUMN rule jsonb;
UPDATE monitor_versions v
   SET rule = jsonb_build_object('keywords', m.keywords, 'exclude', m.exclude, 'subreddits', m.subreddits,
         'posts', m.posts, 'comments', m.comments, 'nsfw', m.nsfw) || coalesce(m.refinements, '{}')
  FROM monitors m
 WHERE m.id = v.monitor_id AND m.version = v.version;

-- Each state of a monitor from its beginning on, in real time (wall_now). Monitors from before this table begin with
-- their state of now.
CREATE TABLE monitor_states (
  monitor_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  status text NOT NULL,
  PRIMARY KEY (monitor_id, at)
);
INSERT INTO monitor_states (monitor_id, at, status)
SELECT id, CASE status WHEN 'active' THEN active_since ELSE updated_at END, status FROM monitors WHERE status <> 'deleted';

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
