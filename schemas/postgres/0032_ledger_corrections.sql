-- Corrections: entries by which an operator makes the balance of an account and its ledger agree again.

-- A correction of the balance alone, or of entries that did not follow from each other, moves no credits. Not
-- validated: every row fitted the stricter condition of before, and reading them all would block charges.
ALTER TABLE ledger_entries
  DROP CONSTRAINT ledger_entries_amount_check,
  ADD CONSTRAINT ledger_entries_amount_check CHECK (amount <> 0 OR kind = 'correction') NOT VALID;

-- As before, but corrections are no usage either.
CREATE OR REPLACE FUNCTION count_usage() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  INSERT INTO usage_days AS stored (account_id, day, route, key_id, charges, credits)
  SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, coalesce(route, ''), coalesce(key_id, ''), count(*), sum(-amount)
  FROM added
  WHERE amount < 0 AND kind NOT IN ('refund', 'correction')
  GROUP BY 1, 2, 3, 4
  ON CONFLICT (account_id, day, route, key_id) DO UPDATE
    SET charges = stored.charges + excluded.charges, credits = stored.credits + excluded.credits;
  RETURN NULL;
END $$;
