-- What a gap covers, so that completeness can be computed per minute: everything the source lists that was created from
-- after_at to before_at, by the forum's dates. Null: not known (a gap without after_at has no lower bound).
ALTER TABLE crawl_gaps
  ADD COLUMN after_at timestamptz,
  ADD COLUMN before_at timestamptz;
