-- Names of monitors in the views, views of monitors and gaps, and a comment on every table and column: what a tool
-- shows beside the names. A view that is replaced later loses its comments, so repeat them there (a test looks for
-- them).

-- Matches with the content of their things and the name of their monitor. What the forum removed is blank (removed), as
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
) AS i ON i.thing_id = m.thing_id
LEFT ANY JOIN
(
    SELECT monitor_id, name, account_id FROM monitors FINAL
) AS n ON n.monitor_id = m.monitor_id;

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

ALTER TABLE items
    MODIFY COMMENT 'Posts and comments as first seen. Rows may repeat: query with FINAL. Expires 30 days after the first sight.',
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
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN ver '1: as first seen; 2: blank, because the forum removed it.',
    COMMENT COLUMN words 'Words of title and text as matching compares them, separated by spaces; for searches.';

ALTER TABLE matches
    MODIFY COMMENT 'Recorded matches: ids, times and terms, no content. Rows may repeat: query with FINAL. Expires after 30 days.',
    COMMENT COLUMN monitor_id 'Id of the monitor, mon_ and 12 characters.',
    COMMENT COLUMN seq 'Number of the match in its monitor: 1, 2, 3 and so on, without holes.',
    COMMENT COLUMN match_id 'Id of the match, mat_; sorts in the order of seq.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN subreddit 'Name of the community, without r/.',
    COMMENT COLUMN matched_terms 'The keywords that were found, as their owner wrote them.',
    COMMENT COLUMN suppressed 'Whether it was beyond the daily cap: stored, not sent.',
    COMMENT COLUMN first_delivery 'First decision about the delivery: pending, none or skipped.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN entered_at 'When the broker received the item.',
    COMMENT COLUMN created_at 'When the match was recorded.';

ALTER TABLE delivery_attempts
    MODIFY COMMENT 'Webhook attempts with their outcomes. Rows may repeat: query with FINAL. Expires after 30 days.',
    COMMENT COLUMN monitor_id 'Id of the monitor, mon_ and 12 characters.',
    COMMENT COLUMN seq 'Number of the match in its monitor: 1, 2, 3 and so on, without holes.',
    COMMENT COLUMN match_id 'Id of the match, mat_; sorts in the order of seq.',
    COMMENT COLUMN attempt 'Number of the attempt: 1, 2, 3 and so on, continued by resends.',
    COMMENT COLUMN started_at 'When the request was sent.',
    COMMENT COLUMN duration_ms 'How long the answer took, in milliseconds.',
    COMMENT COLUMN webhook_kind 'generic, slack or discord.',
    COMMENT COLUMN host 'Host and port of the webhook.',
    COMMENT COLUMN status 'HTTP status of the answer; 0 without an answer.',
    COMMENT COLUMN error 'Why the attempt failed; empty when it succeeded.',
    COMMENT COLUMN delivery_status 'State of the match after the attempt: delivered, pending, failed or skipped.',
    COMMENT COLUMN next_attempt_at 'When it is sent again; NULL: not again.';

ALTER TABLE thread_items
    MODIFY COMMENT 'Which thing belongs to which post, and its first sight: for the crawler. Expires after 30 days.',
    COMMENT COLUMN post_id 'Id of the post, or of the post that the comment belongs to, without t3_.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN subreddit 'Name of the community, without r/.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN earliness 'Higher for an earlier sight; the highest row is kept.';

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

ALTER TABLE item_sightings
    MODIFY COMMENT 'Every sight of an item by a source: the crawler counts hours by it. Expires after four days.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.';

ALTER TABLE item_sightings_of_items
    MODIFY COMMENT 'Fills item_sightings from items.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.';

ALTER TABLE coverage_hours
    MODIFY COMMENT 'What was seen of an hour and how completely. Query with FINAL, or the view coverage_per_hour. Expires after 400 days.',
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
    COMMENT COLUMN audited_threads 'Threads that the audit read.',
    COMMENT COLUMN computed_at 'When the row was computed; the newest counts.';

ALTER TABLE monitors
    MODIFY COMMENT 'Monitors with name and account, copied from Postgres every few seconds. Query with FINAL.',
    COMMENT COLUMN monitor_id 'Id of the monitor, mon_ and 12 characters.',
    COMMENT COLUMN name 'Name that the owner gave the monitor; empty once it is deleted.',
    COMMENT COLUMN account_id 'Account of the monitor.',
    COMMENT COLUMN created_at 'When the monitor was created.',
    COMMENT COLUMN deleted 'Whether the monitor is deleted.',
    COMMENT COLUMN content_hash 'Hash of the other columns, by which copies are compared.',
    COMMENT COLUMN version 'When the row was read from Postgres, in microseconds since 1970; the highest counts.';

ALTER TABLE crawl_gaps
    MODIFY COMMENT 'Stretches that a crawl source may have missed, copied from Postgres. Query with FINAL, or the view gaps_with_duration. Expires after 90 days.',
    COMMENT COLUMN gap_id 'Number of the gap.',
    COMMENT COLUMN source 'Crawl source that may have missed something.',
    COMMENT COLUMN reason 'Why, as one word.',
    COMMENT COLUMN opened_at 'When the gap was noticed.',
    COMMENT COLUMN created_from 'Earliest creation of what is missing; NULL: not known.',
    COMMENT COLUMN created_to 'Latest creation of what is missing; NULL: not known.',
    COMMENT COLUMN after_thing 'Fullname of the last thing seen before the gap; empty: not known.',
    COMMENT COLUMN before_thing 'Fullname of the first thing seen after it; empty: not known.',
    COMMENT COLUMN communities 'Communities of what is missing; empty: any.',
    COMMENT COLUMN found 'Things of the gap that were found since.',
    COMMENT COLUMN closed_at 'When it was closed; NULL: still open.',
    COMMENT COLUMN outcome 'filled: all that can be found was found; given_up: no longer searched for; empty: still open.',
    COMMENT COLUMN content_hash 'Hash of the other columns, by which copies are compared.',
    COMMENT COLUMN version 'When the row was read from Postgres, in microseconds since 1970; the highest counts.';

ALTER TABLE schema_migrations
    MODIFY COMMENT 'Files of the schema that were applied.',
    COMMENT COLUMN name 'Name of the file.',
    COMMENT COLUMN applied_at 'When it was applied.';

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
    COMMENT COLUMN suppressed 'Whether it was beyond the daily cap: stored, not sent.',
    COMMENT COLUMN first_delivery 'First decision about the delivery: pending, none or skipped.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN entered_at 'When the broker received the item.',
    COMMENT COLUMN created_at 'When the match was recorded.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN lag_seconds 'Seconds from creation to first sight; NULL for items of a dump file.';

ALTER TABLE matches_per_day_and_term
    MODIFY COMMENT 'Matches by day, monitor and term; a match counts for each of its terms.',
    COMMENT COLUMN day 'UTC date.',
    COMMENT COLUMN monitor_id 'Id of the monitor, mon_ and 12 characters.',
    COMMENT COLUMN monitor_name 'Name of the monitor; empty when it is deleted.',
    COMMENT COLUMN term 'The keyword, as its owner wrote it.',
    COMMENT COLUMN matches 'Matches of the term, without suppressed ones.',
    COMMENT COLUMN suppressed_matches 'Matches of the term beyond the daily cap.';

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
    COMMENT COLUMN entered_to_delivered_p50_ms 'Median time from the broker to the first delivery of a match, in milliseconds; NULL: nothing was delivered.',
    COMMENT COLUMN entered_to_delivered_p95_ms '95th percentile of that time.',
    COMMENT COLUMN entered_to_delivered_p99_ms '99th percentile of that time.';

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
    COMMENT COLUMN removed 'Whether the forum removed it; its content is blank then.';

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

ALTER TABLE monitors_with_matches
    MODIFY COMMENT 'Monitors that are not deleted, with their matches of the last 30 days.',
    COMMENT COLUMN monitor_id 'Id of the monitor, mon_ and 12 characters.',
    COMMENT COLUMN name 'Name that the owner gave the monitor; empty once it is deleted.',
    COMMENT COLUMN account_id 'Account of the monitor.',
    COMMENT COLUMN created_at 'When the monitor was created.',
    COMMENT COLUMN matches 'Matches of the last 30 days, without suppressed ones.',
    COMMENT COLUMN suppressed_matches 'Matches of the last 30 days beyond the daily cap.',
    COMMENT COLUMN last_match_at 'When the monitor last matched, within 30 days; NULL: never.';
