import type { ClickHouseClient } from '../../../../shared/clickhouse/clickhouse-client.ts';
import type { Pool } from '../../../../shared/postgres/pool.ts';
import type { Clock } from '../../../../shared/runtime/clock.ts';

/** Collaborators of the routes that explain. */
export interface ExplainDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  clock: Clock;
  /** The forum's public address, which URLs of posts begin with. */
  siteUrl: string;
}
