import type { AddressInfo } from 'node:net';
import { createLimitedServer, isForThisServer } from '../http/limited-server.ts';
import { ConfigError } from './config.ts';
import type { Running } from './lifecycle.ts';
import type { Metrics } from './metrics.ts';
import { sharedResult } from './single-flight.ts';

/** Scrapers are few, and a local user must not exhaust the process's connections. */
const CONNECTIONS = 100;

/** A web page must not read the metrics of its reader's machine. */
const FOREIGN_HOST = 'Host: must be an address or a name of this machine, as set in METRICS_HOST.\n';

const JSON_TYPE = 'application/json';

interface ReadyState {
  ready: boolean;
  parts: Record<string, boolean>;
}

interface Readiness {
  /** Whether the process works, without regard to the excluded parts, and each of its parts. */
  answer(excluded: ReadonlySet<string>): Promise<ReadyState>;
}

interface OperationsResponse {
  status: number;
  type: string;
  body: string;
}

export interface OperationsServer extends Running {
  url: string;
}

/**
 * Serves GET /metrics for Prometheus, GET /healthz (the process is alive) and GET /readyz (200 while its services work,
 * else 503; names the parts). `/readyz?exclude=postgres&exclude=kafka` does not count these, for a load balancer: the
 * API's own answer while an engine is unavailable is better than none. They hold no secret, but show how busy
 * the service is.
 *
 * @param address port 0: a free port
 * @throws ConfigError when the address cannot be listened on
 */
export async function startOperationsServer(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
  readiness: Readiness,
): Promise<OperationsServer> {
  const handlers: Record<string, (query: URLSearchParams) => Promise<OperationsResponse>> = {
    '/metrics': sharedResult(
      async () => ({ status: 200, type: metrics.registry.contentType, body: await metrics.registry.metrics() }),
      0,
    ),
    '/healthz': () => Promise.resolve({ status: 200, type: JSON_TYPE, body: '{"status":"ok"}' }),
    '/readyz': async (query) => readyResponse(await readiness.answer(new Set(query.getAll('exclude')))),
  };
  const server = createLimitedServer(
    (request, response) => {
      if (!isForThisServer(request, { listensOn: host, names: [host.toLowerCase()] })) {
        response.writeHead(403, { 'content-type': 'text/plain' }).end(FOREIGN_HOST);
        return;
      }
      const [path = '', query = ''] = (request.url ?? '').split('?', 2);
      const handle = handlers[path];
      if (handle === undefined) {
        response.writeHead(404).end();
        return;
      }
      handle(new URLSearchParams(query)).then(
        ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
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

function readyResponse({ ready, parts }: ReadyState): OperationsResponse {
  return { status: ready ? 200 : 503, type: JSON_TYPE, body: JSON.stringify({ ready, parts }) };
}

/** The URL at which this machine reaches a server that listens on `host`, which may be every address (0.0.0.0, ::). */
export function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function listenFault({ host, port }: { host: string; port: number }, code = 'unknown error'): string {
  if (code === 'EADDRINUSE') return `METRICS_PORT: port ${port} on ${host} is in use. Set another port.`;
  return `METRICS_HOST, METRICS_PORT: cannot listen on port ${port} of ${host} (${code}).`;
}
