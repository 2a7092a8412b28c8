-- What the tool server's sign-in keeps: clients, codes, tokens, grants, and sign-ins under way.
CREATE TABLE oauth_records (
  -- SHA-256 of the id, which is the secret itself for codes and tokens.
  id_hash bytea PRIMARY KEY,
  -- Client, ClientDocument, Interaction, Grant, AuthorizationCode, AccessToken, RefreshToken
  model text NOT NULL,
  -- The id_hash of the grant that it belongs to. Without its grant, no code or token is worth anything.
  grant_hash bytea,
  account_id text COLLATE "C" REFERENCES accounts,
  -- Of access tokens: what they allow, and where.
  scopes text[],
  audience text,
  -- All about it but its id, encrypted with the installation's secret key.
  payload bytea NOT NULL,
  written_at timestamptz NOT NULL DEFAULT service_now(),
  expires_at timestamptz NOT NULL,
  -- When a code was exchanged, or a refresh token was replaced.
  consumed_at timestamptz
);
CREATE INDEX oauth_records_grant ON oauth_records (grant_hash) WHERE grant_hash IS NOT NULL;
CREATE INDEX oauth_records_account ON oauth_records (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX oauth_records_expires_at ON oauth_records (expires_at);
