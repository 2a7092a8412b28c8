-- The communities whose listing has the gap, so that only their threads are read for it. Null: any community.
ALTER TABLE crawl_gaps ADD COLUMN communities text[];
