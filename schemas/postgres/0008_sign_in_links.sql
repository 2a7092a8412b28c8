-- What an account sees of the programs that it allowed, and what keeps codes from being guessed.

ALTER TABLE oauth_records
  -- Of grants: the last call with one of its tokens, to the minute.
  ADD COLUMN last_used_at timestamptz,
  -- Of clients and their documents: when somebody first allowed them something. Until then no error is sent to their redirects.
  ADD COLUMN allowed_at timestamptz;
-- Nobody else's are kept for longer than a day.
UPDATE oauth_records SET allowed_at = written_at
WHERE model IN ('Client', 'ClientDocument') AND expires_at > service_now() + interval '2 days';

-- A mailbox that wrong codes were tried for gets a link instead of a code.
ALTER TABLE signups
  ALTER COLUMN code_hash DROP NOT NULL,
  ADD COLUMN purpose text NOT NULL DEFAULT 'signup' CHECK (purpose IN ('signup', 'signin')),
  -- SHA-256 of the link's 130 random bits.
  ADD COLUMN link_hash bytea UNIQUE,
  -- Of a sign-in: the id of the page that its link leads back to, of use only with that page's cookie.
  ADD COLUMN interaction text,
  ADD COLUMN link_used_at timestamptz,
  ADD CONSTRAINT signups_code_or_link CHECK ((code_hash IS NULL) <> (link_hash IS NULL));
