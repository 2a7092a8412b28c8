-- What charges are for.

-- The request that caused a charge; null for renewals, and for charges from before this.
ALTER TABLE ledger_entries
  -- As in X-Request-Id and in the logs. The client may choose it, so it need not be unique.
  ADD COLUMN request_id text,
  -- Method and path of the API, also for tool calls.
  ADD COLUMN route text,
  -- null: an access token, not a key.
  ADD COLUMN key_id text COLLATE "C";

-- Charges by UTC day, route and key, so that usage is read at a cost that does not grow with the number of charges.
-- Kept as long as the ledger. A row is only written while its account is locked, since every charge locks it.
-- Half-empty pages keep the updates in place (HOT).
CREATE TABLE usage_days (
  account_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  -- Empty: charged without a request.
  route text COLLATE "C" NOT NULL,
  -- Empty: charged without a key.
  key_id text COLLATE "C" NOT NULL,
  charges bigint NOT NULL,
  credits bigint NOT NULL,
  PRIMARY KEY (account_id, day, route, key_id)
) WITH (fillfactor = 50);

-- A trigger, so that a ledger row and its usage are one statement, whoever writes it. Refunds are not usage.
CREATE FUNCTION count_usage() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
  INSERT INTO usage_days AS stored (account_id, day, route, key_id, charges, credits)
  SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, coalesce(route, ''), coalesce(key_id, ''), count(*), sum(-amount)
  FROM added
  WHERE amount < 0 AND kind <> 'refund'
  GROUP BY 1, 2, 3, 4
  ON CONFLICT (account_id, day, route, key_id) DO UPDATE
    SET charges = stored.charges + excluded.charges, credits = stored.credits + excluded.credits;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_usage AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_usage();

-- Earlier charges, as far back as usage can be asked for. Charges wait meanwhile: a second for a few million rows.
INSERT INTO usage_days (account_id, day, route, key_id, charges, credits)
SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, '', '', count(*), sum(-amount)
FROM ledger_entries
WHERE amount < 0 AND kind <> 'refund' AND created_at >= (SELECT service_now()) - interval '93 days'
GROUP BY 1, 2;
