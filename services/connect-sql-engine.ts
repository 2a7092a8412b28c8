import { createClickhouse } from '../shared/clickhouse/clickhouse-client.ts';
import { sqlDatabases } from '../shared/clickhouse/sql-databases.ts';
import type { SqlEngine } from '../shared/stores/sql/run-sql.ts';
import type { Installation } from './connect-engines.ts';

/** A statement that the engine cannot interrupt is waited for, so that its place is not given away. */
const SQL_REQUEST_MS = 600_000;

/** Where the statements of POST /v1/sql run: in a database that is empty. */
export function connectSqlEngine({ clickhouse: archiveClickhouse, clickhouseUrl, lifecycle }: Installation): SqlEngine {
  const { archive, sandbox, sandboxUrl } = sqlDatabases(clickhouseUrl);
  const clickhouse = createClickhouse(sandboxUrl, 'forum-monitor sql', { requestMs: SQL_REQUEST_MS });
  lifecycle.onStop('clickhouse for sql', () => clickhouse.close());
  return { clickhouse, archiveClickhouse, archive, sandbox };
}
