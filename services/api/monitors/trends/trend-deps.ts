import type { ClickHouseClient } from '../../../../shared/clickhouse/clickhouse-client.ts';
import type { Pool } from '../../../../shared/postgres/pool.ts';
import type { Clock } from '../../../../shared/runtime/clock.ts';

/** Collaborators of the routes about trends. */
export interface TrendDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  clock: Clock;
}
