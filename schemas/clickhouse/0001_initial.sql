-- Things as first seen (ver 1), or blanked because they were removed (ver 2). Rows are written again when a batch is
-- repeated; FINAL keeps the highest version. Partitioned and expired by arrival, not by created_utc: a replayed dump is as
-- new as the day it came in.
CREATE TABLE IF NOT EXISTS items
(
    thing_id String,
    kind Enum8('post' = 1, 'comment' = 2),
    post_id String,
    parent_id String,
    subreddit LowCardinality(String),
    author String,
    title String,
    body String,
    url String,
    permalink String,
    nsfw Bool,
    score Int32,
    num_comments UInt32,
    source LowCardinality(String),
    created_utc DateTime64(3, 'UTC'),
    first_seen_at DateTime64(3, 'UTC'),
    ver UInt8
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMMDD(first_seen_at)
ORDER BY thing_id
TTL toDateTime(first_seen_at) + INTERVAL 30 DAY;

-- Matches hold no title, body or author: those live in items, in one place, where a removal reaches them.
CREATE TABLE IF NOT EXISTS matches
(
    monitor_id String,
    seq UInt64,
    match_id String,
    thing_id String,
    kind Enum8('post' = 1, 'comment' = 2),
    subreddit LowCardinality(String),
    matched_terms Array(String),
    suppressed Bool,
    first_delivery LowCardinality(String),
    created_utc DateTime64(3, 'UTC'),
    first_seen_at DateTime64(3, 'UTC'),
    entered_at DateTime64(3, 'UTC'),
    created_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(created_at)
ORDER BY (monitor_id, seq)
TTL toDateTime(created_at) + INTERVAL 30 DAY;

CREATE TABLE IF NOT EXISTS delivery_attempts
(
    monitor_id String,
    seq UInt64,
    match_id String,
    attempt UInt32,
    started_at DateTime64(3, 'UTC'),
    duration_ms UInt32,
    webhook_kind LowCardinality(String),
    host String,
    status UInt16,
    error LowCardinality(String),
    delivery_status LowCardinality(String),
    next_attempt_at Nullable(DateTime64(3, 'UTC'))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(started_at)
ORDER BY (monitor_id, seq, attempt)
TTL toDateTime(started_at) + INTERVAL 30 DAY;
