-- Every table and column has a comment: what a tool shows beside the names. A view that is replaced loses its comments.

-- Items as first seen (ver 1), or blanked because they were removed (ver 2). Rows are written again when a batch is
-- repeated; FINAL keeps the highest version. Partitioned and expired by arrival, not by created_utc: a replayed dump is
-- as new as the day it came in.
CREATE TABLE IF NOT EXISTS items
(
    thing_id String COMMENT 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    kind Enum8('post' = 1, 'comment' = 2) COMMENT 'post or comment.',
    post_id String COMMENT 'Id of the post, or of the post that the comment belongs to, without t3_.',
    parent_id String COMMENT 'Fullname that the comment answers; empty for a post.',
    subreddit LowCardinality(String) COMMENT 'Name of the community, without r/.',
    author String COMMENT 'Name of the author, without u/.',
    title String COMMENT 'Title of the post; for a comment, of its post.',
    body String COMMENT 'Text as Markdown; empty for a link.',
    url String COMMENT 'Address that the post links to; empty for a comment.',
    permalink String COMMENT 'Address of the thing on the forum.',
    nsfw Bool COMMENT 'Whether the forum marks it as not safe for work.',
    score Int64 COMMENT 'Score when first seen.',
    num_comments UInt64 COMMENT 'Comments of the post when first seen; 0 for a comment.',
    source LowCardinality(String) COMMENT 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    created_utc DateTime64(3, 'UTC') COMMENT 'When it was created on the forum.',
    first_seen_at DateTime64(3, 'UTC') COMMENT 'When it was first seen by this service.',
    ver UInt8 COMMENT '1: as first seen; 2: blank, because the forum removed it.',
    -- What a post's title and text, or a comment's text, consist of, as matching compares it
    -- (shared/matching/searchable-words.ts).
    words String COMMENT 'Words of title and text as matching compares them, separated by spaces; for searches.' CODEC(ZSTD(1)),
    language LowCardinality(String) COMMENT 'ISO 639-1 code of the language of a comment, or of a post with its title; und: not decided; empty: archived before languages were.',
    -- Rules are also matched against it afterwards (shared/archive), and `words` lacks it; empty for posts. '?'
    -- stands for words that nobody wrote.
    post_title_words String DEFAULT '?' COMMENT 'Words of the title of a comment''s post as matching compares them, separated by spaces; ?: archived without them.' CODEC(ZSTD(1)),
    INDEX item_words words TYPE text(tokenizer = splitByString([' '])),
    INDEX item_post_title_words post_title_words TYPE text(tokenizer = splitByString([' '])),
    -- Items get ascending ids, so those of a granule were seen within minutes.
    INDEX item_times first_seen_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMMDD(first_seen_at)
ORDER BY thing_id
TTL toDateTime(first_seen_at) + INTERVAL 30 DAY
COMMENT 'Posts and comments as first seen. Rows may repeat: query with FINAL. Expires 30 days after the first sight.';

-- Matches hold no title, body or author: those live in items, in one place, where a removal reaches them.
CREATE TABLE IF NOT EXISTS matches
(
    monitor_id String COMMENT 'Id of the monitor, mon_ and 12 characters.',
    seq UInt64 COMMENT 'Number of the match in its monitor: 1, 2, 3 and so on, without holes.',
    match_id String COMMENT 'Id of the match, mat_; sorts in the order of seq.',
    thing_id String COMMENT 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    kind Enum8('post' = 1, 'comment' = 2) COMMENT 'post or comment.',
    subreddit LowCardinality(String) COMMENT 'Name of the community, without r/.',
    matched_terms Array(String) COMMENT 'The keywords that were found, as their owner wrote them.',
    suppressed Bool COMMENT 'Whether it was stored but not sent: beyond the daily cap, or for suppressed_reason.',
    first_delivery LowCardinality(String) COMMENT 'First decision about the delivery: pending, none or skipped.',
    created_utc DateTime64(3, 'UTC') COMMENT 'When it was created on the forum.',
    first_seen_at DateTime64(3, 'UTC') COMMENT 'When it was first seen by this service.',
    entered_at DateTime64(3, 'UTC') COMMENT 'When the broker received the item; for a backfilled match, when the item was first seen.',
    created_at DateTime64(3, 'UTC') COMMENT 'When the match was recorded.',
    suppressed_reason LowCardinality(String) COMMENT 'Why it was suppressed: thread_once for a thread that had a match that day; empty: beyond the daily cap, or not suppressed.',
    backfill Bool DEFAULT false COMMENT 'Whether a backfill found it in the archive.'
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(created_at)
ORDER BY (monitor_id, seq)
TTL toDateTime(created_at) + INTERVAL 30 DAY
COMMENT 'Recorded matches: ids, times and terms, no content. Rows may repeat: query with FINAL. Expires after 30 days.';

CREATE TABLE IF NOT EXISTS delivery_attempts
(
    monitor_id String COMMENT 'Id of the monitor, mon_ and 12 characters.',
    seq UInt64 COMMENT 'Number of the match in its monitor: 1, 2, 3 and so on, without holes.',
    match_id String COMMENT 'Id of the match, mat_; sorts in the order of seq.',
    attempt UInt32 COMMENT 'Number of the attempt: 1, 2, 3 and so on, continued by resends.',
    started_at DateTime64(3, 'UTC') COMMENT 'When the request was sent.',
    duration_ms UInt32 COMMENT 'How long the answer took, in milliseconds.',
    webhook_kind LowCardinality(String) COMMENT 'generic, slack or discord.',
    host String COMMENT 'Host and port of the webhook.',
    status UInt16 COMMENT 'HTTP status of the answer; 0 without an answer.',
    error LowCardinality(String) COMMENT 'Why the attempt failed; empty when it succeeded.',
    delivery_status LowCardinality(String) COMMENT 'State of the match after the attempt: delivered, pending, failed or skipped.',
    next_attempt_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When it is sent again; NULL: not again.'
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(started_at)
ORDER BY (monitor_id, seq, attempt)
TTL toDateTime(started_at) + INTERVAL 30 DAY
COMMENT 'Webhook attempts with their outcomes. Rows may repeat: query with FINAL. Expires after 30 days.';

-- Which comments of which post are archived, and since when: the crawler asks by post, items is ordered by item. An
-- item is written again when a batch is repeated or its text is removed; the row with the earliest sight is kept, so
-- repeating is harmless. Small granules, because a query reads a few hundred posts spread over the whole day.
CREATE TABLE IF NOT EXISTS thread_items
(
    post_id String COMMENT 'Id of the post, or of the post that the comment belongs to, without t3_.',
    thing_id String COMMENT 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    kind Enum8('post' = 1, 'comment' = 2) COMMENT 'post or comment.',
    source LowCardinality(String) COMMENT 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    subreddit LowCardinality(String) COMMENT 'Name of the community, without r/.',
    created_utc DateTime64(3, 'UTC') COMMENT 'When it was created on the forum.',
    first_seen_at DateTime64(3, 'UTC') COMMENT 'When it was first seen by this service.',
    earliness UInt64 COMMENT 'Higher for an earlier sight; the highest row is kept.'
)
ENGINE = ReplacingMergeTree(earliness)
PARTITION BY toYYYYMMDD(first_seen_at)
ORDER BY (post_id, thing_id)
TTL toDateTime(first_seen_at) + INTERVAL 30 DAY
SETTINGS index_granularity = 1024
COMMENT 'Which thing belongs to which post, and its first sight: for the crawler. Expires after 30 days.';

CREATE MATERIALIZED VIEW IF NOT EXISTS thread_items_of_items TO thread_items AS
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

ALTER TABLE thread_items_of_items
    MODIFY COMMENT 'Fills thread_items from items.',
    COMMENT COLUMN post_id 'Id of the post, or of the post that the comment belongs to, without t3_.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN subreddit 'Name of the community, without r/.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN earliness 'Higher for an earlier sight; the highest row is kept.';

-- What the archive says of each hour, written again whenever it changes; the highest computed_at counts.
CREATE TABLE IF NOT EXISTS coverage_hours
(
    hour DateTime('UTC') COMMENT 'Start of the hour.',
    posts UInt64 COMMENT 'Posts first seen in the hour.',
    comments UInt64 COMMENT 'Comments first seen in the hour.',
    late UInt64 COMMENT 'Items first seen more than two minutes after their creation.',
    removed UInt64 COMMENT 'Things that the forum removed in the hour.',
    items_by_source Map(String, UInt64) COMMENT 'Items by the source that saw them first.',
    lag_p50_seconds Nullable(Float64) COMMENT 'Median of the time from creation to first sight, in seconds; NULL without items.',
    lag_p95_seconds Nullable(Float64) COMMENT '95th percentile of that time.',
    lag_p99_seconds Nullable(Float64) COMMENT '99th percentile of that time.',
    post_completeness Nullable(Float64) COMMENT 'Share of the posts created in the hour that were seen, by their ids; NULL: not known.',
    comment_completeness Nullable(Float64) COMMENT 'Share of the comments created in the hour that were seen, estimated by an audit; NULL: not known.',
    comment_completeness_low Nullable(Float64) COMMENT 'Lower bound of its 95 % interval.',
    comment_completeness_high Nullable(Float64) COMMENT 'Upper bound of its 95 % interval.',
    audited_threads UInt64 COMMENT 'Threads that the audit read.',
    computed_at DateTime64(3, 'UTC') COMMENT 'When the row was computed; the newest counts.'
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY hour
TTL hour + INTERVAL 400 DAY
COMMENT 'What was seen of an hour and how completely. Query with FINAL, or the view coverage_per_hour. Expires after 400 days.';

-- Every sight of an item, for counting the hours of the last days: items keeps only the last sight of an item that
-- several sources published, and is not ordered by time. Repeated rows are harmless, because whoever counts groups by
-- item.
CREATE TABLE IF NOT EXISTS item_sightings
(
    thing_id String COMMENT 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    kind Enum8('post' = 1, 'comment' = 2) COMMENT 'post or comment.',
    source LowCardinality(String) COMMENT 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    post_id String COMMENT 'Id of the post, or of the post that the comment belongs to, without t3_.',
    subreddit LowCardinality(String) COMMENT 'Name of the community, without r/.',
    created_utc DateTime64(3, 'UTC') COMMENT 'When it was created on the forum.' CODEC(Delta, ZSTD(1)),
    first_seen_at DateTime64(3, 'UTC') COMMENT 'When it was first seen by this service.' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(first_seen_at)
ORDER BY first_seen_at
TTL toDateTime(first_seen_at) + INTERVAL 4 DAY
COMMENT 'Every sight of an item by a source: the crawler counts hours by it. Expires after four days.';

CREATE MATERIALIZED VIEW IF NOT EXISTS item_sightings_of_items TO item_sightings AS
SELECT thing_id, kind, source, post_id, subreddit, created_utc, first_seen_at
FROM items
WHERE first_seen_at > now64(3) - INTERVAL 4 DAY;

ALTER TABLE item_sightings_of_items
    MODIFY COMMENT 'Fills item_sightings from items.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN post_id 'Id of the post, or of the post that the comment belongs to, without t3_.',
    COMMENT COLUMN subreddit 'Name of the community, without r/.';

-- Copies of tables of Postgres, for analysts. The biller copies what changed every few seconds and compares everything
-- every ten minutes. content_hash is what it compares by; the row that was read last wins.
CREATE TABLE IF NOT EXISTS monitors
(
    monitor_id String COMMENT 'Id of the monitor, mon_ and 12 characters.',
    name String COMMENT 'Name that the owner gave the monitor; empty once it is deleted.',
    account_id String COMMENT 'Account of the monitor.',
    created_at DateTime64(3, 'UTC') COMMENT 'When the monitor was created.',
    deleted Bool COMMENT 'Whether the monitor is deleted.',
    content_hash String COMMENT 'Hash of the other columns, by which copies are compared.',
    version UInt64 COMMENT 'When the row was read from Postgres, in microseconds since 1970; the highest counts.'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY monitor_id
COMMENT 'Monitors with name and account, copied from Postgres every few seconds. Query with FINAL.';

CREATE TABLE IF NOT EXISTS crawl_gaps
(
    gap_id UInt64 COMMENT 'Number of the gap.',
    source LowCardinality(String) COMMENT 'Crawl source that may have missed something.',
    reason LowCardinality(String) COMMENT 'Why, as one word.',
    opened_at DateTime64(3, 'UTC') COMMENT 'When the gap was noticed.',
    created_from Nullable(DateTime64(3, 'UTC')) COMMENT 'Earliest creation of what is missing; NULL: not known.',
    created_to Nullable(DateTime64(3, 'UTC')) COMMENT 'Latest creation of what is missing; NULL: not known.',
    after_thing String COMMENT 'Fullname of the last thing seen before the gap; empty: not known.',
    before_thing String COMMENT 'Fullname of the first thing seen after it; empty: not known.',
    communities Array(String) COMMENT 'Communities of what is missing; empty: any.',
    found UInt64 COMMENT 'Things of the gap that were found since.',
    closed_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When it was closed; NULL: still open.',
    outcome LowCardinality(String) COMMENT 'filled: all that can be found was found; given_up: no longer searched for; empty: still open.',
    content_hash String COMMENT 'Hash of the other columns, by which copies are compared.',
    version UInt64 COMMENT 'When the row was read from Postgres, in microseconds since 1970; the highest counts.'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY gap_id
TTL toDateTime(opened_at) + INTERVAL 91 DAY
COMMENT 'Stretches that a crawl source may have missed, copied from Postgres. Query with FINAL, or the view gaps_with_duration. Expires after 90 days.';

-- The content of items once more, as one JSON object each, in small granules and blocks: a scan reads thousands of
-- items that are spread over the whole time, and items would decompress nearly everything for them. A removal replaces
-- the content here too, by the same insert.
CREATE TABLE IF NOT EXISTS item_contents
(
    thing_id String COMMENT 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    first_seen_at DateTime64(3, 'UTC') COMMENT 'When it was first seen by this service.',
    ver UInt8 COMMENT '1: as first seen; 2: blank, because the forum removed it.',
    content String COMMENT 'Content and properties as a JSON object; empty for ver 2.' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMMDD(first_seen_at)
ORDER BY thing_id
TTL toDateTime(first_seen_at) + INTERVAL 30 DAY
SETTINGS index_granularity = 64, min_compress_block_size = 4096, max_compress_block_size = 16384
COMMENT 'The content of items for scans by shared/archive; query items instead.';

CREATE MATERIALIZED VIEW IF NOT EXISTS item_contents_of_items TO item_contents AS
SELECT
    thing_id,
    first_seen_at,
    ver,
    if(ver = 2, '', toJSONString(CAST(tuple(kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw,
            toString(toUnixTimestamp64Milli(created_utc)), language, source),
        'Tuple(kind String, post_id String, parent_id String, subreddit String, author String, title String, body String, permalink String, nsfw Bool, created_utc_ms String, language String, source String)'))) AS content
FROM items;

ALTER TABLE item_contents_of_items
    MODIFY COMMENT 'Copies the content of each item into item_contents.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN ver '1: as first seen; 2: blank, because the forum removed it.',
    COMMENT COLUMN content 'Content and properties as a JSON object; empty for ver 2.';

-- For analysts: each row once, whatever was written twice, and exactly the last 30 days. All times are UTC.

-- Matches with the content of their items and the name of their monitor. What the forum removed is blank (removed), as
-- is what was never archived: it has no source.
CREATE OR REPLACE VIEW matches_with_items AS
SELECT
    m.match_id AS match_id,
    m.monitor_id AS monitor_id,
    n.name AS monitor_name,
    n.account_id AS account_id,
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
    if(source = 'replay', NULL, greatest(0, dateDiff('millisecond', m.created_utc, m.first_seen_at)) / 1000) AS lag_seconds,
    i.language AS language,
    m.suppressed_reason AS suppressed_reason,
    m.backfill AS backfill
FROM
(
    SELECT * FROM matches FINAL WHERE created_at > now64(3) - INTERVAL 30 DAY
) AS m
LEFT ANY JOIN
(
    SELECT thing_id, post_id, author, title, body, url, permalink, nsfw, score, source, language, ver
    FROM items FINAL
    WHERE first_seen_at > now64(3) - INTERVAL 30 DAY
) AS i ON i.thing_id = m.thing_id
LEFT ANY JOIN
(
    SELECT monitor_id, name, account_id FROM monitors FINAL
) AS n ON n.monitor_id = m.monitor_id;

ALTER TABLE matches_with_items
    MODIFY COMMENT 'Matches of the last 30 days with the name of their monitor and the content of their things.',
    COMMENT COLUMN match_id 'Id of the match, mat_; sorts in the order of seq.',
    COMMENT COLUMN monitor_id 'Id of the monitor, mon_ and 12 characters.',
    COMMENT COLUMN monitor_name 'Name of the monitor; empty when it is deleted.',
    COMMENT COLUMN account_id 'Account of the monitor.',
    COMMENT COLUMN seq 'Number of the match in its monitor: 1, 2, 3 and so on, without holes.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN post_id 'Id of the post, or of the post that the comment belongs to, without t3_.',
    COMMENT COLUMN subreddit 'Name of the community, without r/.',
    COMMENT COLUMN author 'Name of the author, without u/.',
    COMMENT COLUMN title 'Title of the post; for a comment, of its post.',
    COMMENT COLUMN body 'Text as Markdown; empty for a link.',
    COMMENT COLUMN url 'Address that the post links to; empty for a comment.',
    COMMENT COLUMN permalink 'Address of the thing on the forum.',
    COMMENT COLUMN nsfw 'Whether the forum marks it as not safe for work.',
    COMMENT COLUMN score 'Score when first seen.',
    COMMENT COLUMN removed 'Whether the forum removed it; its content is blank then.',
    COMMENT COLUMN matched_terms 'The keywords that were found, as their owner wrote them.',
    COMMENT COLUMN suppressed 'Whether it was stored but not sent: beyond the daily cap, or for suppressed_reason.',
    COMMENT COLUMN first_delivery 'First decision about the delivery: pending, none or skipped.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN entered_at 'When the broker received the item; for a backfilled match, when the item was first seen.',
    COMMENT COLUMN created_at 'When the match was recorded.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN lag_seconds 'Seconds from creation to first sight; NULL for items of a dump file.',
    COMMENT COLUMN suppressed_reason 'Why it was suppressed: thread_once for a thread that had a match that day; empty: beyond the daily cap, or not suppressed.',
    COMMENT COLUMN language 'ISO 639-1 code of the language of a comment, or of a post with its title; und: not decided; empty: archived before languages were.',
    COMMENT COLUMN backfill 'Whether a backfill found it in the archive; entered_at is then its first sight.';

-- A match counts once for each of its terms; suppressed ones are counted apart.
CREATE OR REPLACE VIEW matches_per_day_and_term AS
SELECT
    c.day AS day,
    c.monitor_id AS monitor_id,
    n.name AS monitor_name,
    c.term AS term,
    c.matches AS matches,
    c.suppressed_matches AS suppressed_matches
FROM
(
    SELECT
        toDate(created_at) AS day,
        monitor_id,
        arrayJoin(matched_terms) AS term,
        countIf(NOT suppressed) AS matches,
        countIf(suppressed) AS suppressed_matches
    FROM matches FINAL
    WHERE created_at > now64(3) - INTERVAL 30 DAY
    GROUP BY day, monitor_id, term
) AS c
LEFT ANY JOIN
(
    SELECT monitor_id, name FROM monitors FINAL
) AS n ON n.monitor_id = c.monitor_id;

ALTER TABLE matches_per_day_and_term
    MODIFY COMMENT 'Matches by day, monitor and term; a match counts for each of its terms.',
    COMMENT COLUMN day 'UTC date.',
    COMMENT COLUMN monitor_id 'Id of the monitor, mon_ and 12 characters.',
    COMMENT COLUMN monitor_name 'Name of the monitor; empty when it is deleted.',
    COMMENT COLUMN term 'The keyword, as its owner wrote it.',
    COMMENT COLUMN matches 'Matches of the term, without suppressed ones.',
    COMMENT COLUMN suppressed_matches 'Suppressed matches of the term.';

CREATE OR REPLACE VIEW monitors_with_matches AS
SELECT
    n.monitor_id AS monitor_id,
    n.name AS name,
    n.account_id AS account_id,
    n.created_at AS created_at,
    c.found AS matches,
    c.suppressed_ones AS suppressed_matches,
    nullIf(c.last_at, toDateTime64(0, 3, 'UTC')) AS last_match_at
FROM
(
    SELECT monitor_id, name, account_id, created_at FROM monitors FINAL WHERE NOT deleted
) AS n
LEFT ANY JOIN
(
    SELECT
        monitor_id,
        countIf(NOT suppressed) AS found,
        countIf(suppressed) AS suppressed_ones,
        max(created_at) AS last_at
    FROM matches FINAL
    WHERE created_at > now64(3) - INTERVAL 30 DAY
    GROUP BY monitor_id
) AS c ON c.monitor_id = n.monitor_id;

ALTER TABLE monitors_with_matches
    MODIFY COMMENT 'Monitors that are not deleted, with their matches of the last 30 days.',
    COMMENT COLUMN monitor_id 'Id of the monitor, mon_ and 12 characters.',
    COMMENT COLUMN name 'Name that the owner gave the monitor; empty once it is deleted.',
    COMMENT COLUMN account_id 'Account of the monitor.',
    COMMENT COLUMN created_at 'When the monitor was created.',
    COMMENT COLUMN matches 'Matches of the last 30 days, without suppressed ones.',
    COMMENT COLUMN suppressed_matches 'Suppressed matches of the last 30 days.',
    COMMENT COLUMN last_match_at 'When the monitor last matched, within 30 days; NULL: never.';

-- How long receivers took to answer, and how long after they entered matches were delivered: by the first delivery of
-- each match, so that a resend does not count, and without backfilled ones, which entered long before. NULL: nothing
-- was delivered.
CREATE OR REPLACE VIEW delivery_latency AS
SELECT
    toDate(started_at) AS day,
    webhook_kind,
    host,
    count() AS attempts,
    countIf(is_first_delivery) AS matches_delivered,
    quantileExact(0.5)(duration_ms) AS duration_p50_ms,
    quantileExact(0.95)(duration_ms) AS duration_p95_ms,
    quantileExact(0.99)(duration_ms) AS duration_p99_ms,
    quantileExactOrNullIf(0.5)(delivered_after_ms, is_first_delivery AND is_known) AS entered_to_delivered_p50_ms,
    quantileExactOrNullIf(0.95)(delivered_after_ms, is_first_delivery AND is_known) AS entered_to_delivered_p95_ms,
    quantileExactOrNullIf(0.99)(delivered_after_ms, is_first_delivery AND is_known) AS entered_to_delivered_p99_ms
FROM
(
    SELECT
        a.started_at AS started_at,
        a.webhook_kind AS webhook_kind,
        a.host AS host,
        a.duration_ms AS duration_ms,
        a.delivery_status = 'delivered' AND a.attempt = a.first_delivered AS is_first_delivery,
        m.seq > 0 AS is_known,
        dateDiff('millisecond', m.entered_at, a.started_at) + a.duration_ms AS delivered_after_ms
    FROM
    (
        SELECT *, minIf(attempt, delivery_status = 'delivered') OVER (PARTITION BY monitor_id, seq) AS first_delivered
        FROM delivery_attempts FINAL
        WHERE started_at > now64(3) - INTERVAL 30 DAY
    ) AS a
    LEFT ANY JOIN
    (
        SELECT monitor_id, seq, entered_at FROM matches FINAL WHERE created_at > now64(3) - INTERVAL 30 DAY AND NOT backfill
    ) AS m ON m.monitor_id = a.monitor_id AND m.seq = a.seq
)
GROUP BY day, webhook_kind, host;

ALTER TABLE delivery_latency
    MODIFY COMMENT 'Attempts by day, kind and host, and how long they took.',
    COMMENT COLUMN day 'UTC date.',
    COMMENT COLUMN webhook_kind 'generic, slack or discord.',
    COMMENT COLUMN host 'Host and port of the webhook.',
    COMMENT COLUMN attempts 'Attempts.',
    COMMENT COLUMN matches_delivered 'Matches that were delivered for the first time.',
    COMMENT COLUMN duration_p50_ms 'Median time of an answer, in milliseconds.',
    COMMENT COLUMN duration_p95_ms '95th percentile of that time.',
    COMMENT COLUMN duration_p99_ms '99th percentile of that time.',
    COMMENT COLUMN entered_to_delivered_p50_ms 'Median time from the broker to the first delivery of a match, in milliseconds, without backfilled ones; NULL: nothing was delivered.',
    COMMENT COLUMN entered_to_delivered_p95_ms '95th percentile of that time.',
    COMMENT COLUMN entered_to_delivered_p99_ms '99th percentile of that time.';

-- Receivers with at least one failed attempt within 24 hours; their last success within 30 days, NULL when there was
-- none.
CREATE OR REPLACE VIEW failing_endpoints AS
SELECT
    host,
    webhook_kind,
    countIf(is_recent) AS attempts,
    countIf(is_recent AND is_failure) AS failures,
    failures / attempts AS failure_share,
    argMaxIf(error, started_at, is_failure) AS last_error,
    argMaxIf(status, started_at, is_failure) AS last_failure_status,
    maxIf(started_at, is_failure) AS last_failure_at,
    maxOrNullIf(started_at, NOT is_failure) AS last_success_at
FROM
(
    SELECT
        *,
        started_at > now64(3) - INTERVAL 1 DAY AS is_recent,
        delivery_status != 'delivered' AS is_failure
    FROM delivery_attempts FINAL
    WHERE started_at > now64(3) - INTERVAL 30 DAY
)
GROUP BY host, webhook_kind
HAVING failures > 0;

ALTER TABLE failing_endpoints
    MODIFY COMMENT 'Kinds and hosts with failed attempts in the last 24 hours.',
    COMMENT COLUMN host 'Host and port of the webhook.',
    COMMENT COLUMN webhook_kind 'generic, slack or discord.',
    COMMENT COLUMN attempts 'Attempts.',
    COMMENT COLUMN failures 'Attempts that failed.',
    COMMENT COLUMN failure_share 'Share of the attempts that failed, 0 to 1.',
    COMMENT COLUMN last_error 'Error of the last failed attempt.',
    COMMENT COLUMN last_failure_status 'HTTP status of the last failed attempt; 0 without an answer.',
    COMMENT COLUMN last_failure_at 'When an attempt last failed.',
    COMMENT COLUMN last_success_at 'When an attempt last succeeded, within 30 days; NULL: never.';

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
    ver = 2 AS removed,
    language
FROM items FINAL
WHERE first_seen_at > now64(3) - INTERVAL 30 DAY;

ALTER TABLE items_with_lag
    MODIFY COMMENT 'Items of the last 30 days, each once, with the time from creation to first sight.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN post_id 'Id of the post, or of the post that the comment belongs to, without t3_.',
    COMMENT COLUMN parent_id 'Fullname that the comment answers; empty for a post.',
    COMMENT COLUMN subreddit 'Name of the community, without r/.',
    COMMENT COLUMN author 'Name of the author, without u/.',
    COMMENT COLUMN title 'Title of the post; for a comment, of its post.',
    COMMENT COLUMN body 'Text as Markdown; empty for a link.',
    COMMENT COLUMN url 'Address that the post links to; empty for a comment.',
    COMMENT COLUMN permalink 'Address of the thing on the forum.',
    COMMENT COLUMN nsfw 'Whether the forum marks it as not safe for work.',
    COMMENT COLUMN score 'Score when first seen.',
    COMMENT COLUMN num_comments 'Comments of the post when first seen; 0 for a comment.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN lag_seconds 'Seconds from creation to first sight; NULL for items of a dump file.',
    COMMENT COLUMN late 'Whether it was first seen more than two minutes after its creation.',
    COMMENT COLUMN removed 'Whether the forum removed it; its content is blank then.',
    COMMENT COLUMN language 'ISO 639-1 code of the language of a comment, or of a post with its title; und: not decided; empty: archived before languages were.';

CREATE OR REPLACE VIEW coverage_per_hour AS
SELECT * EXCEPT (computed_at)
FROM coverage_hours FINAL
WHERE hour > now() - INTERVAL 400 DAY;

ALTER TABLE coverage_per_hour
    MODIFY COMMENT 'What was seen of each hour of the last 400 days, and how completely.',
    COMMENT COLUMN hour 'Start of the hour.',
    COMMENT COLUMN posts 'Posts first seen in the hour.',
    COMMENT COLUMN comments 'Comments first seen in the hour.',
    COMMENT COLUMN late 'Items first seen more than two minutes after their creation.',
    COMMENT COLUMN removed 'Things that the forum removed in the hour.',
    COMMENT COLUMN items_by_source 'Items by the source that saw them first.',
    COMMENT COLUMN lag_p50_seconds 'Median of the time from creation to first sight, in seconds; NULL without items.',
    COMMENT COLUMN lag_p95_seconds '95th percentile of that time.',
    COMMENT COLUMN lag_p99_seconds '99th percentile of that time.',
    COMMENT COLUMN post_completeness 'Share of the posts created in the hour that were seen, by their ids; NULL: not known.',
    COMMENT COLUMN comment_completeness 'Share of the comments created in the hour that were seen, estimated by an audit; NULL: not known.',
    COMMENT COLUMN comment_completeness_low 'Lower bound of its 95 % interval.',
    COMMENT COLUMN comment_completeness_high 'Upper bound of its 95 % interval.',
    COMMENT COLUMN audited_threads 'Threads that the audit read.';

CREATE OR REPLACE VIEW gaps_with_duration AS
SELECT
    gap_id,
    source,
    reason,
    opened_at,
    closed_at,
    outcome,
    dateDiff('millisecond', opened_at, ifNull(closed_at, now64(3))) / 1000 AS open_seconds,
    created_from,
    created_to,
    after_thing,
    before_thing,
    communities,
    found
FROM crawl_gaps FINAL
WHERE opened_at > now64(3) - INTERVAL 90 DAY;

ALTER TABLE gaps_with_duration
    MODIFY COMMENT 'Gaps of the last 90 days, each once, with the time that they were open.',
    COMMENT COLUMN gap_id 'Number of the gap.',
    COMMENT COLUMN source 'Crawl source that may have missed something.',
    COMMENT COLUMN reason 'Why, as one word.',
    COMMENT COLUMN opened_at 'When the gap was noticed.',
    COMMENT COLUMN closed_at 'When it was closed; NULL: still open.',
    COMMENT COLUMN outcome 'filled: all that can be found was found; given_up: no longer searched for; empty: still open.',
    COMMENT COLUMN open_seconds 'How long the gap was open, or is until now, in seconds.',
    COMMENT COLUMN created_from 'Earliest creation of what is missing; NULL: not known.',
    COMMENT COLUMN created_to 'Latest creation of what is missing; NULL: not known.',
    COMMENT COLUMN after_thing 'Fullname of the last thing seen before the gap; empty: not known.',
    COMMENT COLUMN before_thing 'Fullname of the first thing seen after it; empty: not known.',
    COMMENT COLUMN communities 'Communities of what is missing; empty: any.',
    COMMENT COLUMN found 'Things of the gap that were found since.';
