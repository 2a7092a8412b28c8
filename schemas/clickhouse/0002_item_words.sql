-- What a post's title and text, or a comment's text, consist of, as matching compares it (shared/matching/searchable-words.ts), separated by
-- spaces. Empty for what was archived before, which expires within 30 days.
ALTER TABLE items ADD COLUMN IF NOT EXISTS words String CODEC(ZSTD(1));
ALTER TABLE items ADD INDEX IF NOT EXISTS item_words words TYPE text(tokenizer = splitByString([' ']));
