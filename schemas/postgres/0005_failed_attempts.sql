-- Serves the count of a monitor's failures of the last 24 hours: without it all attempts of 30 days were read. Few attempts end so.
CREATE INDEX delivery_attempts_failed ON delivery_attempts (monitor_id, started_at) WHERE delivery_status = 'failed';
