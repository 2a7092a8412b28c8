-- A gap closes with its outcome and with how many things of its stretch were found since it was opened. Until now
-- nothing closed gaps: what is older than a day is out of reach of every source, the rest stays open for them.
ALTER TABLE crawl_gaps ADD COLUMN found bigint NOT NULL DEFAULT 0, ADD COLUMN outcome text;
UPDATE crawl_gaps SET outcome = 'filled' WHERE filled_at IS NOT NULL;
UPDATE crawl_gaps SET filled_at = service_now(), outcome = 'given_up'
 WHERE filled_at IS NULL AND opened_at < service_now() - interval '1 day';
ALTER TABLE crawl_gaps
  ADD CONSTRAINT crawl_gaps_outcome CHECK (outcome IN ('filled', 'given_up')),
  ADD CONSTRAINT crawl_gaps_closed CHECK ((filled_at IS NULL) = (outcome IS NULL));
-- Lists of gaps by time, and their retention.
CREATE INDEX crawl_gaps_opened ON crawl_gaps (opened_at);
CREATE INDEX crawl_gaps_closed ON crawl_gaps (filled_at) WHERE filled_at IS NOT NULL;

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
-- shared/domain/coverage/hour-coverage.ts.
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
