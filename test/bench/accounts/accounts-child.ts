/**
 * A cached post in a separate process, served by the API, which authenticates, limits and charges, and by the same
 * route of an application that does none of this but logs and sets the same headers. It receives the URL of a
 * PostgreSQL server and replies with the addresses of both.
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import helmet from 'helmet';
import { createReadingDeps, readingRoutes } from '../../../services/api/api-app.ts';
import { createRequestLog } from '../../../services/api/http/request-log.ts';
import { createRouter } from '../../../services/api/http/route.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import { threadOf } from '../reading/reading-thread.ts';

export interface AccountsJob {
  postgresUrl: string;
  accounts: number;
  /** The comments of the post. */
  comments: number;
}

export interface AccountsAddresses {
  /** Authenticated, limited, charged. */
  whole: string;
  /** The same route without authentication, limits and charge. */
  bare: string;
  keys: string[];
}

process.once('message', (job: AccountsJob) => {
  void serve(job).then((addresses) => process.send!(addresses));
});

async function serve({ postgresUrl, accounts, comments }: AccountsJob): Promise<AccountsAddresses> {
  const [db, { forum: source }] = await Promise.all([createTestDatabase(postgresUrl), startTestForum()]);
  const upstream = { ...source.upstream, get: () => Promise.resolve(threadOf('bench1', comments)) };
  const forum = { ...source, upstream };
  const api = await startTestApi(db.pool, { forum, limits: 'plans' });
  const opened = await Promise.all(
    Array.from({ length: accounts }, () => api.account({ credits: 1_000_000, pack: 79 })),
  );
  const clickhouse = createClickhouse('http://127.0.0.1:9', 'none');
  const service = createReadingDeps({
    ...{ pool: db.pool, clickhouse, forum, logger: silentLogger(), metrics: createMetrics() },
  });
  const free = { charge: nothing, chargeCovered: nothing };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const caller = { keyId: '', accountId: '', scopes: [], balance: 1, pack: 79 };
  app.use(createRequestLog(silentLogger()), helmet());
  app.use(createRouter(readingRoutes({ ...service, charges: free }), () => caller));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return { whole: api.url, bare: `http://127.0.0.1:${port}`, keys: opened.map(({ apiKey }) => apiKey) };
}

function nothing(): Promise<{ credits: number; balance: number }> {
  return Promise.resolve({ credits: 1, balance: 1 });
}
