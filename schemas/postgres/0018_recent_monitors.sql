-- The copy of monitors in ClickHouse asks every few seconds for those that changed.
CREATE INDEX monitors_updated ON monitors (updated_at);
