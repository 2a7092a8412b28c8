-- Permissions of keys, and codes that give a key to an existing account.

-- Until now every key could use monitors and the account, and forum:read was the only permission. Existing keys keep
-- what they can do. A key that an old process creates after this can only read.
UPDATE api_keys SET scopes = scopes || '{monitors:read,monitors:write,account}' WHERE revoked_at IS NULL;
ALTER TABLE api_keys ALTER COLUMN scopes SET DEFAULT '{forum:read,monitors:read,monitors:write,account}';

ALTER TABLE signups
  DROP CONSTRAINT signups_purpose_check,
  ADD CONSTRAINT signups_purpose_check CHECK (purpose IN ('signup', 'signin', 'recovery'));
