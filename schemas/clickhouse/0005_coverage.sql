-- What the archive says of each hour, written again whenever it changes; the highest computed_at counts.
CREATE TABLE IF NOT EXISTS coverage_hours
(
    hour DateTime('UTC'),
    posts UInt64,
    comments UInt64,
    late UInt64,
    removed UInt64,
    items_by_source Map(String, UInt64),
    lag_p50_seconds Nullable(Float64),
    lag_p95_seconds Nullable(Float64),
    lag_p99_seconds Nullable(Float64),
    post_completeness Nullable(Float64),
    comment_completeness Nullable(Float64),
    comment_completeness_low Nullable(Float64),
    comment_completeness_high Nullable(Float64),
    audited_threads UInt64,
    computed_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY hour
TTL hour + INTERVAL 400 DAY;

-- Every sight of an item, for counting the hours of the last days: items keeps only the last sight of an item that
-- several sources published, and is not ordered by time. Repeated rows are harmless, because whoever counts groups by
-- thing.
CREATE TABLE IF NOT EXISTS item_sightings
(
    thing_id String,
    kind Enum8('post' = 1, 'comment' = 2),
    source LowCardinality(String),
    created_utc DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    first_seen_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(first_seen_at)
ORDER BY first_seen_at
TTL toDateTime(first_seen_at) + INTERVAL 4 DAY;

CREATE MATERIALIZED VIEW IF NOT EXISTS item_sightings_of_items TO item_sightings AS
SELECT thing_id, kind, source, created_utc, first_seen_at
FROM items
WHERE first_seen_at > now64(3) - INTERVAL 4 DAY;

-- What was archived in the last day: more would take long, and coverage is counted from the first start of this version
-- on.
INSERT INTO item_sightings
SELECT thing_id, kind, source, created_utc, first_seen_at
FROM items
WHERE first_seen_at > now64(3) - INTERVAL 1 DAY;

CREATE OR REPLACE VIEW coverage_per_hour AS
SELECT * EXCEPT (computed_at)
FROM coverage_hours FINAL
WHERE hour > now() - INTERVAL 400 DAY;

-- Items once each; of an item that several sources published, source and times are of the last one. What the forum
-- removed is blank (removed). late: first seen more than two minutes after its creation. lag_seconds: from creation to
-- first sight; NULL for items of a dump file, which are never late.
CREATE OR REPLACE VIEW items_with_lag AS
SELECT
    thing_id,
    kind,
    post_id,
    parent_id,
    subreddit,
    author,
    title,
    body,
    url,
    permalink,
    nsfw,
    score,
    num_comments,
    created_utc,
    first_seen_at,
    source,
    if(source = 'replay', NULL, greatest(0, dateDiff('millisecond', created_utc, first_seen_at)) / 1000) AS lag_seconds,
    ifNull(lag_seconds > 120, false) AS late,
    ver = 2 AS removed
FROM items FINAL
WHERE first_seen_at > now64(3) - INTERVAL 30 DAY;

-- Matches with the content of their things. What the forum removed is blank (removed), as is what was never archived:
-- it has no source. lag_seconds: from creation to first sight; NULL for items of a dump file.
CREATE OR REPLACE VIEW matches_with_items AS
SELECT
    m.match_id AS match_id,
    m.monitor_id AS monitor_id,
    m.seq AS seq,
    m.kind AS kind,
    m.thing_id AS thing_id,
    i.post_id AS post_id,
    m.subreddit AS subreddit,
    i.author AS author,
    i.title AS title,
    i.body AS body,
    i.url AS url,
    i.permalink AS permalink,
    i.nsfw AS nsfw,
    i.score AS score,
    i.ver = 2 AS removed,
    m.matched_terms AS matched_terms,
    m.suppressed AS suppressed,
    m.first_delivery AS first_delivery,
    m.created_utc AS created_utc,
    m.first_seen_at AS first_seen_at,
    m.entered_at AS entered_at,
    m.created_at AS created_at,
    i.source AS source,
    if(source = 'replay', NULL, greatest(0, dateDiff('millisecond', m.created_utc, m.first_seen_at)) / 1000) AS lag_seconds
FROM
(
    SELECT * FROM matches FINAL WHERE created_at > now64(3) - INTERVAL 30 DAY
) AS m
LEFT ANY JOIN
(
    SELECT thing_id, post_id, author, title, body, url, permalink, nsfw, score, source, ver
    FROM items FINAL
    WHERE first_seen_at > now64(3) - INTERVAL 30 DAY
) AS i ON i.thing_id = m.thing_id;
