-- Scores and counts of comments are whole numbers that JSON carries exactly, up to 2^53 - 1: 32 bits wrapped what is
-- larger into another number.
-- wider: processes of the release before write and read both columns as numbers of JSON.
ALTER TABLE items MODIFY COLUMN score Int64, MODIFY COLUMN num_comments UInt64;

-- A view keeps the types of its columns: the same views again, and the comments that they lose when they are replaced.
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
    COMMENT COLUMN suppressed_reason 'Why it was suppressed: thread_once for a thread that had a match that day; empty: beyond the daily cap, or not suppressed.',
    COMMENT COLUMN first_delivery 'First decision about the delivery: pending, none or skipped.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN entered_at 'When the broker received the item; for a backfilled match, when the item was first seen.',
    COMMENT COLUMN created_at 'When the match was recorded.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN language 'ISO 639-1 code of the language of a comment, or of a post with its title; und: not decided; empty: archived before languages were.',
    COMMENT COLUMN backfill 'Whether a backfill found it in the archive; entered_at is then its first sight.',
    COMMENT COLUMN lag_seconds 'Seconds from creation to first sight; NULL for items of a dump file.';

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
    COMMENT COLUMN language 'ISO 639-1 code of the language of a comment, or of a post with its title; und: not decided; empty: archived before languages were.',
    COMMENT COLUMN lag_seconds 'Seconds from creation to first sight; NULL for items of a dump file.',
    COMMENT COLUMN late 'Whether it was first seen more than two minutes after its creation.',
    COMMENT COLUMN removed 'Whether the forum removed it; its content is blank then.';
