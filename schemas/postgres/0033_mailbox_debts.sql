-- What is owed after a chargeback outlives the account, so that nobody buys, spends and charges back again.

-- Credits that a deleted account of the mailbox owed. The next account of the mailbox owes them instead.
ALTER TABLE credited_mailboxes ADD COLUMN owed bigint NOT NULL DEFAULT 0 CHECK (owed >= 0);
