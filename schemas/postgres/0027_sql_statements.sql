-- POST /v1/sql: one statement of an account at a time, in all processes, and what its failed ones took today.
CREATE TABLE sql_statements (
  account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts,
  -- The UTC day of failed_ms.
  day date NOT NULL,
  failed_ms integer NOT NULL DEFAULT 0,
  -- While a statement runs: whose it is, and when a process that died is not waited for any more.
  running_token uuid,
  running_until timestamptz
);
