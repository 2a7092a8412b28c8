-- Creates read-only access for analysts on a ClickHouse server. An administrator runs it once in the database of the
-- service:
--   clickhouse-client --database forum --queries-file deploy/clickhouse/analyst.sql
-- Choose the password below first. The embedded engine has no users but a read-only port
-- (schemas/clickhouse/README.md).

CREATE SETTINGS PROFILE IF NOT EXISTS forum_analyst SETTINGS
    readonly = 1,
    max_execution_time = 30,
    max_result_rows = 1000000,
    max_result_bytes = 268435456,
    max_memory_usage = 1073741824,
    max_temporary_data_on_disk_size_for_query = 1073741824;

CREATE ROLE IF NOT EXISTS forum_analyst SETTINGS PROFILE 'forum_analyst';

-- Views read their tables with the rights of the caller, so both the views and the tables are granted.
GRANT SELECT ON matches_with_items TO forum_analyst;
GRANT SELECT ON matches_per_day_and_term TO forum_analyst;
GRANT SELECT ON delivery_latency TO forum_analyst;
GRANT SELECT ON failing_endpoints TO forum_analyst;
GRANT SELECT ON items_with_lag TO forum_analyst;
GRANT SELECT ON coverage_per_hour TO forum_analyst;
GRANT SELECT ON items TO forum_analyst;
GRANT SELECT ON matches TO forum_analyst;
GRANT SELECT ON delivery_attempts TO forum_analyst;
GRANT SELECT ON coverage_hours TO forum_analyst;
GRANT SELECT ON monitors TO forum_analyst;
GRANT SELECT ON crawl_gaps TO forum_analyst;
GRANT SELECT ON monitors_with_matches TO forum_analyst;
GRANT SELECT ON gaps_with_duration TO forum_analyst;

CREATE USER IF NOT EXISTS analyst IDENTIFIED WITH sha256_password BY 'CHOOSE A PASSWORD' DEFAULT ROLE forum_analyst
    SETTINGS PROFILE 'forum_analyst';
GRANT forum_analyst TO analyst;
