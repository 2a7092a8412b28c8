-- The crawler asks what was seen of a time, by post and community. thread_items is ordered by post: for such a question
-- it read all of the day, several times a minute. Rows from before have empty names; they expire after four days.
ALTER TABLE item_sightings
    ADD COLUMN IF NOT EXISTS post_id String COMMENT 'Id of the post, or of the post that the comment belongs to, without t3_.' AFTER source,
    ADD COLUMN IF NOT EXISTS subreddit LowCardinality(String) COMMENT 'Name of the community, without r/.' AFTER post_id;

ALTER TABLE item_sightings_of_items MODIFY QUERY
SELECT thing_id, kind, source, post_id, subreddit, created_utc, first_seen_at
FROM items
WHERE first_seen_at > now64(3) - INTERVAL 4 DAY;

ALTER TABLE item_sightings_of_items
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN kind 'post or comment.',
    COMMENT COLUMN source 'Crawl source that saw it: post-ids, listings, threads, comment-ids or replay.',
    COMMENT COLUMN post_id 'Id of the post, or of the post that the comment belongs to, without t3_.',
    COMMENT COLUMN subreddit 'Name of the community, without r/.',
    COMMENT COLUMN created_utc 'When it was created on the forum.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.';
