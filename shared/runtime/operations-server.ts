import type { AddressInfo } from 'node:net';
import { createLimitedServer } from '../http/limited-server.ts';
import type { Running } from './lifecycle.ts';
import { ConfigError } from './config.ts';
import type { Metrics } from './metrics.ts';
import { sharedResult } from './shared-result.ts';

/** Scrapers are few, and a local user must not exhaust the process's connections. */
const CONNECTIONS = 100;

export interface OperationsServer extends Running {
  /** The server's address for this machine. */
  url: string;
}

/**
 * Serves GET /metrics in Prometheus' text format. The metrics name no account and hold no secret, but tell how busy the
 * service is: by default they listen on loopback.
 *
 * @param address port 0: a free port
 * @throws ConfigError when the address cannot be listened on
 */
export async function startOperationsServer(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
): Promise<OperationsServer> {
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
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ConfigError(listenFault({ host, port }, error.code), { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: urlOf(host, bound),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The URL at which this machine reaches a server that listens on `host`, which may be every address (0.0.0.0, ::). */
export function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function listenFault({ host, port }: { host: string; port: number }, code = 'unknown error'): string {
  if (code === 'EADDRINUSE') return `METRICS_PORT: port ${port} on ${host} is in use; choose another one.`;
  return `METRICS_HOST, METRICS_PORT: cannot listen on port ${port} of ${host} (${code}).`;
}
