-- Which comments of which post are archived, and since when: the crawler asks by post, items is ordered by thing. A
-- thing is written again when a batch is repeated or its text is removed; the row with the earliest sight is kept, so
-- repeating is harmless. Small granules, because a query reads a few hundred posts spread over the whole day.
CREATE TABLE IF NOT EXISTS thread_items
(
    post_id String,
    thing_id String,
    kind Enum8('post' = 1, 'comment' = 2),
    source LowCardinality(String),
    created_utc DateTime64(3, 'UTC'),
    first_seen_at DateTime64(3, 'UTC'),
    -- Higher for an earlier sight.
    earliness UInt64
)
ENGINE = ReplacingMergeTree(earliness)
PARTITION BY toYYYYMMDD(first_seen_at)
ORDER BY (post_id, thing_id)
TTL toDateTime(first_seen_at) + INTERVAL 30 DAY
SETTINGS index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS thread_items_of_items TO thread_items AS
SELECT
    post_id,
    thing_id,
    kind,
    source,
    created_utc,
    first_seen_at,
    toUInt64(9000000000000000 - toUnixTimestamp64Milli(first_seen_at)) AS earliness
FROM items;

-- What was archived before: the crawler looks back two days.
INSERT INTO thread_items
SELECT
    post_id,
    thing_id,
    kind,
    source,
    created_utc,
    first_seen_at,
    toUInt64(9000000000000000 - toUnixTimestamp64Milli(first_seen_at)) AS earliness
FROM items
WHERE first_seen_at > now64(3) - INTERVAL 3 DAY;
