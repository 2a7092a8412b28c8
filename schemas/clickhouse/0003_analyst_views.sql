-- For analysts: each row once, whatever was written twice, and the last 30 days exactly, whether older rows are merged away yet or
-- not. All times are UTC.

-- Matches with the content of their things. What the forum removed is blank (removed), as is what was never archived.
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
    m.created_at AS created_at
FROM
(
    SELECT * FROM matches FINAL WHERE created_at > now64(3) - INTERVAL 30 DAY
) AS m
LEFT ANY JOIN
(
    SELECT thing_id, post_id, author, title, body, url, permalink, nsfw, score, ver
    FROM items FINAL
    WHERE first_seen_at > now64(3) - INTERVAL 30 DAY
) AS i ON i.thing_id = m.thing_id;

-- A match counts once for each of its terms; suppressed ones are counted apart.
CREATE OR REPLACE VIEW matches_per_day_and_term AS
SELECT
    toDate(created_at) AS day,
    monitor_id,
    arrayJoin(matched_terms) AS term,
    countIf(NOT suppressed) AS matches,
    countIf(suppressed) AS suppressed_matches
FROM matches FINAL
WHERE created_at > now64(3) - INTERVAL 30 DAY
GROUP BY day, monitor_id, term;

-- How long receivers took to answer, and how long after they entered matches were delivered: by the first delivery of each match,
-- so that a resend does not count. NULL: nothing was delivered.
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
        SELECT monitor_id, seq, entered_at FROM matches FINAL WHERE created_at > now64(3) - INTERVAL 30 DAY
    ) AS m ON m.monitor_id = a.monitor_id AND m.seq = a.seq
)
GROUP BY day, webhook_kind, host;

-- Receivers with at least one failed attempt within 24 hours; their last success within 30 days, NULL when there was none.
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
