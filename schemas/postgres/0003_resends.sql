-- Whether the match was queued again by its owner: then its failure counts nowhere.
ALTER TABLE matches ADD COLUMN resent boolean NOT NULL DEFAULT false;
