import { createClickhouse } from '../shared/clickhouse/clickhouse-client.ts';
import { sqlDatabases } from '../shared/clickhouse/sql-databases.ts';
import type { SqlEngine } from '../shared/stores/sql/run-sql.ts';
import type { Installation } from './connect-engines.ts';

/** A statement that the engine cannot interrupt is waited for, so that its place is not given away. */
const SQL_REQUEST_MS = 600_000;

/** Where the statements of POST /v1/sql run: in a database that is empty. */
export function connectSqlEngine(installation: Installation): SqlEngine {
  const { clickhouse: archiveClickhouse, clickhouseUrl, config, lifecycle } = installation;
  const { archive, sandbox, sandboxUrl } = sqlDatabases(clickhouseUrl);
  const options = { ...config.clickhouse, requestMs: SQL_REQUEST_MS };
  const clickhouse = createClickhouse(sandboxUrl, 'forum-monitor sql', options);
  lifecycle.onStop('clickhouse for sql', () => clickhouse.close());
  return { clickhouse, archiveClickhouse, archive, sandbox };
}
