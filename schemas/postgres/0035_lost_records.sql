-- Stretches of a topic that a consumer group never read, because they expired before it or the log was cut. A counter
-- in a process would be lost with it, and its first value is no increase.
CREATE TABLE lost_records (
  consumer_group text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  -- From this offset to before to_offset; equal when nobody knows how many there were.
  from_offset bigint NOT NULL,
  to_offset bigint NOT NULL CHECK (to_offset >= from_offset),
  noticed_at timestamptz NOT NULL,
  PRIMARY KEY (consumer_group, topic, partition, from_offset)
);
CREATE INDEX lost_records_noticed ON lost_records (noticed_at);
