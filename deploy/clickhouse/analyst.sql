-- Creates read-only access for analysts on a ClickHouse server. An administrator runs it in the database of the service,
-- and again when an upgrade has changed it:
--   clickhouse-client --database forum --queries-file deploy/clickhouse/analyst.sql
-- Write the hash of a password below first, which `printf %s PASSWORD | sha256sum` prints; without it the last statements
-- are refused. The embedded engine has no users but a read-only port (schemas/clickhouse/README.md).

CREATE SETTINGS PROFILE IF NOT EXISTS forum_analyst;

-- The last four settings keep answers exact where the server's default profile differs: the views rely on them, and an
-- answer that is cut off would look whole.
ALTER SETTINGS PROFILE forum_analyst SETTINGS
    readonly = 1,
    max_execution_time = 30,
    max_result_rows = 1000000,
    max_result_bytes = 268435456,
    max_memory_usage = 1073741824,
    max_temporary_data_on_disk_size_for_query = 1073741824,
    max_threads = 4,
    max_concurrent_queries_for_user = 4,
    join_use_nulls = 0,
    do_not_merge_across_partitions_select_final = 0,
    timeout_overflow_mode = 'throw',
    result_overflow_mode = 'throw';

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

CREATE USER IF NOT EXISTS analyst IDENTIFIED WITH sha256_hash BY 'HASH OF THE PASSWORD' DEFAULT ROLE forum_analyst
    SETTINGS PROFILE 'forum_analyst';
GRANT forum_analyst TO analyst;
