-- What monitors are judged by afterwards (shared/stores/archive): the words of the title of a comment's post, which words does not hold,
-- separated by spaces; empty for posts. '?' stands for words that nobody wrote: items that were archived before, or by an older archiver.
ALTER TABLE items ADD COLUMN IF NOT EXISTS post_title_words String DEFAULT '?' CODEC(ZSTD(1));
ALTER TABLE items ADD INDEX IF NOT EXISTS item_post_title_words post_title_words TYPE text(tokenizer = splitByString([' ']));

-- Things get ascending ids, so those of a granule were seen within minutes.
ALTER TABLE items ADD INDEX IF NOT EXISTS item_times first_seen_at TYPE minmax GRANULARITY 1;

ALTER TABLE items
    COMMENT COLUMN post_title_words 'Words of the title of a comment''s post as matching compares them, separated by spaces; ?: archived without them.';

-- The content of items once more, as one JSON object each, in small granules and blocks: a scan reads thousands of items that are spread
-- over the whole time, and items would decompress nearly everything for them. A removal replaces the content here too, by the same insert.
-- What was archived before is read from items.
CREATE TABLE IF NOT EXISTS item_contents
(
    thing_id String,
    first_seen_at DateTime64(3, 'UTC'),
    ver UInt8,
    content String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMMDD(first_seen_at)
ORDER BY thing_id
TTL toDateTime(first_seen_at) + INTERVAL 30 DAY
SETTINGS index_granularity = 64, min_compress_block_size = 4096, max_compress_block_size = 16384;

CREATE MATERIALIZED VIEW IF NOT EXISTS item_contents_of_items TO item_contents AS
SELECT
    thing_id,
    first_seen_at,
    ver,
    if(ver = 2, '', toJSONString(CAST(tuple(kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw,
            toString(toUnixTimestamp64Milli(created_utc)), language, source),
        'Tuple(kind String, post_id String, parent_id String, subreddit String, author String, title String, body String, permalink String, nsfw Bool, created_utc_ms String, language String, source String)'))) AS content
FROM items;

ALTER TABLE item_contents
    MODIFY COMMENT 'The content of items for scans by shared/stores/archive; query items instead.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN ver '1: as first seen; 2: blank, because the forum removed it.',
    COMMENT COLUMN content 'Content and properties as a JSON object; empty for ver 2.';

ALTER TABLE item_contents_of_items
    MODIFY COMMENT 'Copies the content of each item into item_contents.',
    COMMENT COLUMN thing_id 'Fullname of the thing: t3_ and the id for a post, t1_ and the id for a comment.',
    COMMENT COLUMN first_seen_at 'When it was first seen by this service.',
    COMMENT COLUMN ver '1: as first seen; 2: blank, because the forum removed it.',
    COMMENT COLUMN content 'Content and properties as a JSON object; empty for ver 2.';
