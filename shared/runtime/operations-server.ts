import type { AddressInfo } from 'node:net';
import { createLimitedServer } from '../http/limited-server.ts';
import type { Running } from './lifecycle.ts';
import type { Metrics } from './metrics.ts';
import { sharedResult } from './shared-result.ts';

/** Scrapers are few, and a local user must not exhaust the process's connections. */
const CONNECTIONS = 100;

export interface OperationsServer extends Running {
  /** http://127.0.0.1:PORT of the server. */
  url: string;
}

/**
 * Serves GET /metrics in Prometheus' text format, on loopback only.
 *
 * @param port 0: a free port
 * @throws the server's error when the port is in use
 */
export async function startOperationsServer(metrics: Metrics, port: number): Promise<OperationsServer> {
  const page = sharedResult(() => metrics.registry.metrics(), 0);
  const server = createLimitedServer(
    (request, response) => {
      if (request.url?.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      page().then(
        (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    },
    { connections: CONNECTIONS },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
