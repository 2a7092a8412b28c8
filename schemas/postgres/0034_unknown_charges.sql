-- Charges whose commit got no answer, so that their requests were answered 503 and brought nothing. Where such a charge
-- is in the ledger, also later, the biller reverses it and deletes the row.
CREATE TABLE unknown_charges (
  account_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  reference text NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT service_now(),
  -- Those of the charge in ledger_entries.
  PRIMARY KEY (account_id, kind, reference)
);
