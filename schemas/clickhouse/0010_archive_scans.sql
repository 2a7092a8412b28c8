-- What monitors are judged by afterwards (shared/stores/archive): the words of the title of a comment's post, which words does not hold,
-- separated by spaces; empty for posts. '?' stands for words that nobody wrote: items that were archived before, or by an older archiver.
ALTER TABLE items ADD COLUMN IF NOT EXISTS post_title_words String DEFAULT '?' CODEC(ZSTD(1));
ALTER TABLE items ADD INDEX IF NOT EXISTS item_post_title_words post_title_words TYPE text(tokenizer = splitByString([' ']));

-- Things get ascending ids, so those of a granule were seen within minutes.
ALTER TABLE items ADD INDEX IF NOT EXISTS item_times first_seen_at TYPE minmax GRANULARITY 1;

ALTER TABLE items
    COMMENT COLUMN post_title_words 'Words of the title of a comment''s post as matching compares them, separated by spaces; ?: archived without them.';
