-- When the owner last queued the match again. The match has waited for its delivery since then, and not since it was
-- recorded.
ALTER TABLE matches ADD COLUMN resent_at timestamptz;
