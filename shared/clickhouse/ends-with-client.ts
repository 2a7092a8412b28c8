import type { ClickHouseSettings } from '@clickhouse/client';

/**
 * Settings of a read that the server ends when its client disconnects, as an aborted signal does. A server does so only
 * for statements that may not write. The embedded engine cannot end a statement: there it ends by its own limit.
 */
export const ENDS_WITH_CLIENT = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
} as const satisfies ClickHouseSettings;
