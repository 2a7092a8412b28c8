-- What each process last said of its calls to the forum, so that all together keep to one budget. A row a process, written twice a
-- second: unlogged, because a report is worthless after seconds, and half-empty pages keep the updates in place (HOT).
CREATE UNLOGGED TABLE budget_reports (
  process_id text COLLATE "C" PRIMARY KEY,
  reported_at timestamptz NOT NULL,
  report jsonb NOT NULL
) WITH (fillfactor = 50);
