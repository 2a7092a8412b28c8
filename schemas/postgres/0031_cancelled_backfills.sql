-- Cancelling a backfill without deleting its monitor.

-- When the owner cancelled the run. Written with the monitor's lock held, under which matches are recorded: nothing is
-- recorded afterwards. The recorder ends the run, as cancelled, when what it had recorded is published.
ALTER TABLE backfills ADD COLUMN cancelled_at timestamptz;
