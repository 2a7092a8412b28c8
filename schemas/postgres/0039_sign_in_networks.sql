-- Codes that strangers cannot use up.

-- The networks that an account signed in from: they get codes when others have used up those of its mailbox. Found by
-- the mailbox, so that asking for a code reads no accounts.
CREATE TABLE sign_in_networks (
  mailbox text PRIMARY KEY REFERENCES accounts (mailbox) ON UPDATE CASCADE,
  -- /24s and /64s; the newest first, at most five.
  networks text[] NOT NULL
);
