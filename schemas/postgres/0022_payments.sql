-- Packs bought with money. A payment is written before its checkout begins, and only a signed event of the payment
-- provider, or the provider's own list, marks it as paid.

CREATE TABLE payments (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES accounts,
  pack smallint NOT NULL CHECK (pack IN (9, 29, 79)),
  -- In the currency's smallest unit, before tax. What was offered then, whatever the table of packs says later.
  amount bigint NOT NULL CHECK (amount > 0),
  currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
  credits bigint NOT NULL CHECK (credits > 0),
  -- trial: the payment simulator; test: a test key of the provider. Neither moves money.
  mode text NOT NULL CHECK (mode IN ('trial', 'test', 'live')),
  -- started → paid, expired or failed; unclaimed: paid for an account that was deleted meanwhile, and credited to
  -- nobody; voided: without money, and taken back when money came into play.
  status text NOT NULL DEFAULT 'started'
    CHECK (status IN ('started', 'paid', 'expired', 'failed', 'unclaimed', 'voided')),
  -- The provider's checkout session, once it is known.
  session_id text UNIQUE,
  created_at timestamptz NOT NULL DEFAULT service_now(),
  paid_at timestamptz
);
CREATE INDEX payments_account ON payments (account_id, created_at DESC);
CREATE INDEX payments_without_money ON payments (mode) WHERE mode <> 'live' AND status IN ('started', 'paid');
CREATE INDEX payments_abandoned ON payments (created_at) WHERE status IN ('started', 'expired', 'failed');

-- What is known of the money of a payment, by the provider's payment intent. Refunds and disputes may be known before
-- the payment itself. Purchase, refund and dispute lock this row first, so that the later of two sees the earlier.
CREATE TABLE payment_charges (
  payment_intent text COLLATE "C" PRIMARY KEY,
  payment_id text COLLATE "C" UNIQUE REFERENCES payments,
  -- What was charged, with tax; null until a refund names it.
  charged bigint CHECK (charged > 0),
  -- The highest sum of refunds that was named.
  refunded bigint NOT NULL DEFAULT 0 CHECK (refunded >= 0),
  first_seen_at timestamptz NOT NULL DEFAULT service_now()
);
CREATE INDEX payment_charges_unknown ON payment_charges (first_seen_at) WHERE payment_id IS NULL;

CREATE TABLE payment_disputes (
  id text COLLATE "C" PRIMARY KEY,
  payment_intent text COLLATE "C" NOT NULL REFERENCES payment_charges ON DELETE CASCADE,
  -- won and lost are final.
  outcome text NOT NULL CHECK (outcome IN ('open', 'won', 'lost'))
);
CREATE INDEX payment_disputes_intent ON payment_disputes (payment_intent);

-- Events of the provider whose effect is committed.
CREATE TABLE payment_events (
  id text COLLATE "C" PRIMARY KEY,
  seen_at timestamptz NOT NULL DEFAULT service_now()
);
CREATE INDEX payment_events_seen_at ON payment_events (seen_at);

-- How many credits of a pack are taken back: all of them after a full refund, some after a partial one, and none again
-- after a dispute that was won.
ALTER TABLE packs_bought
  ADD COLUMN taken_back bigint NOT NULL DEFAULT 0 CHECK (taken_back BETWEEN 0 AND credits),
  -- Numbers the changes of taken_back, for the references of their ledger rows.
  ADD COLUMN changes integer NOT NULL DEFAULT 0,
  -- Taken back for good, by an operator or because it was a trial: no refund or dispute changes it any more.
  ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;
UPDATE packs_bought SET taken_back = credits, changes = 1, withdrawn = true WHERE refunded_at IS NOT NULL;
