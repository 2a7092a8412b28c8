-- A gap of some communities' listing concerns only their threads. Rows from before have no name, which counts as any.
ALTER TABLE thread_items ADD COLUMN IF NOT EXISTS subreddit LowCardinality(String) AFTER source;

ALTER TABLE thread_items_of_items MODIFY QUERY
SELECT
    post_id,
    thing_id,
    kind,
    source,
    subreddit,
    created_utc,
    first_seen_at,
    toUInt64(9000000000000000 - toUnixTimestamp64Milli(first_seen_at)) AS earliness
FROM items;
