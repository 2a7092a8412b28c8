-- Sessions of people in the dashboard.
CREATE TABLE dashboard_sessions (
  -- SHA-256 of the 160 random bits in the browser's cookie.
  token_hash bytea PRIMARY KEY,
  -- Names the session in lists and forms. It is not a secret.
  id text COLLATE "C" NOT NULL UNIQUE,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  -- Where the person signed in: a /24 or a /64, and the browser's own words, cut.
  network text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  -- To the minute.
  last_seen_at timestamptz NOT NULL DEFAULT service_now(),
  expires_at timestamptz NOT NULL,
  -- Signed out or revoked. The row stays until it would have expired, because it tells a known network from a new one.
  ended_at timestamptz
);
CREATE INDEX dashboard_sessions_account ON dashboard_sessions (account_id);
CREATE INDEX dashboard_sessions_expires_at ON dashboard_sessions (expires_at);

-- A code for the dashboard opens no program, and a code for a program opens no session.
ALTER TABLE signups
  DROP CONSTRAINT signups_purpose_check,
  ADD CONSTRAINT signups_purpose_check CHECK (purpose IN ('signup', 'signin', 'recovery', 'dashboard'));
