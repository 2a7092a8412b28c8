-- Copies of tables of Postgres, for analysts. The biller copies what changed every few seconds and compares everything
-- every ten minutes. content_hash is what it compares by; the row that was read last wins.
CREATE TABLE IF NOT EXISTS monitors
(
    monitor_id String,
    name String,
    account_id String,
    created_at DateTime64(3, 'UTC'),
    deleted Bool,
    content_hash String,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY monitor_id;

CREATE TABLE IF NOT EXISTS crawl_gaps
(
    gap_id UInt64,
    source LowCardinality(String),
    reason LowCardinality(String),
    opened_at DateTime64(3, 'UTC'),
    created_from Nullable(DateTime64(3, 'UTC')),
    created_to Nullable(DateTime64(3, 'UTC')),
    after_thing String,
    before_thing String,
    communities Array(String),
    found UInt64,
    closed_at Nullable(DateTime64(3, 'UTC')),
    outcome LowCardinality(String),
    content_hash String,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY gap_id
TTL toDateTime(opened_at) + INTERVAL 91 DAY;
