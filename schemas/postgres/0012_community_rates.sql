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
  -- Comments that a listing of a group showed, and those among them that the listing of all communities had not shown.
  checked float8 NOT NULL,
  missed float8 NOT NULL,
  first_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
) WITH (fillfactor = 50);
