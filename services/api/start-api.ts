import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLimitedServer } from '../../shared/http/limited-server.ts';
import { delay } from '../../shared/runtime/clock.ts';
import { ConfigError } from '../../shared/runtime/config.ts';
import type { Config } from '../../shared/runtime/config.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import { createApiApp } from './api-app.ts';
import type { ApiAppDeps } from './api-app.ts';
import { answerConnectionErrors, REQUEST_HEAD_BYTES } from './http/api-error.ts';
import { LiveTails } from './matches/live-tails.ts';
import type { LiveTailsDeps } from './matches/live-tails.ts';

export interface ApiDeps extends Omit<
  ApiAppDeps,
  'host' | 'trustProxy' | 'baseUrl' | 'appUrl' | 'dashboardUrl' | 'liveTails'
> {
  http: Pick<
    Config['http'],
    'port' | 'host' | 'trustProxy' | 'baseUrl' | 'appUrl' | 'dashboardUrl' | 'maxConnections'
  > &
    Partial<Pick<Config['http'], 'drainMs'>>;
  /** How live tails learn of new matches, and their timing; absent: they poll. */
  liveTail?: Pick<LiveTailsDeps, 'wakeUps' | 'timing' | 'maxStreams'>;
}

export interface RunningApi extends Running {
  /** The port that was bound: the requested one, or a free one for 0. */
  port: number;
}

/** How many of all connections one client may hold: enough for an office behind one address. */
const CLIENT_SHARE = 1 / 10;
/** How long a stop waits for requests under way. */
const DRAIN_MS = 5_000;
const IDLE_CHECK_MS = 50;

/**
 * Serves the API over HTTP.
 *
 * @throws ConfigError with one clear sentence when the port is taken or not permitted
 */
export async function startApi(options: ApiDeps): Promise<RunningApi> {
  const { port, host, trustProxy, baseUrl, appUrl, dashboardUrl, maxConnections, drainMs = 0 } = options.http;
  const liveTails = new LiveTails({ ...options, ...options.liveTail });
  const app = createApiApp({ ...options, liveTails, host, trustProxy, baseUrl, appUrl, dashboardUrl });
  const server = createLimitedServer(app, {
    connections: maxConnections,
    // Behind a proxy all connections come from its address, and it limits those of its clients.
    connectionsPerClient: app.enabled('trust proxy') ? Infinity : Math.ceil(maxConnections * CLIENT_SHARE),
    headBytes: REQUEST_HEAD_BYTES,
    requireHost: false,
  });
  answerConnectionErrors(server, baseUrl);
  const draining = closeConnectionsWhenDraining(server);
  await listen(server, port, host);
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      draining.begin();
      await delay(drainMs);
      await Promise.all([stop(server), liveTails.stop()]);
    },
  };
}

/**
 * Once draining has begun, each response asks its client to close the connection, so that no client sends another
 * request on one that is about to be closed.
 */
function closeConnectionsWhenDraining(server: Server): { begin(): void } {
  let isDraining = false;
  const unfinished = new Set<ServerResponse>();
  server.prependListener('request', (_request, response) => {
    if (isDraining) response.shouldKeepAlive = false;
    unfinished.add(response);
    response.once('close', () => unfinished.delete(response));
  });
  return {
    begin() {
      isDraining = true;
      for (const response of unfinished) response.shouldKeepAlive = false;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sentences: Record<string, string> = {
        EADDRINUSE: `Port ${port} on ${host} is in use. Stop the program that listens there, or set PORT to another port.`,
        EACCES: `This user may not listen on port ${port} of ${host}. Set PORT to a port above 1023.`,
        EADDRNOTAVAIL: `HOST ${host} is not an address of this machine.`,
      };
      const sentence = sentences[error.code ?? ''];
      reject(sentence === undefined ? error : new ConfigError(sentence, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

/**
 * Stops accepting connections, finishes requests under way and closes each connection once it is idle. Connections left
 * after DRAIN_MS are destroyed.
 */
function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    // A keep-alive connection becomes idle only after its response, and would then keep the server open.
    const closing = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(closing);
      resolve();
    });
    server.closeIdleConnections();
  });
}
