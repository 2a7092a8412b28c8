import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { countHosts } from './host-header.ts';
import { SerialConnection } from './serial-connection.ts';
import { UnsentResponses } from './unsent-responses.ts';
import type { UnsentLimits } from './unsent-responses.ts';

/** Limits for the memory and time that clients may use. Times are milliseconds. */
export interface ServerLimits extends UnsentLimits {
  /** Maximum number of connections. One more is closed, and so are all idle ones. */
  connections: number;
  /** Maximum number of connections of one client, by its IPv4 address or its /48. One more is closed. */
  connectionsPerClient: number;
  /**
   * Requests after which a connection is closed, so that long-lived connections are spread over the processes again.
   */
  requestsPerConnection: number;
  /** Maximum size of the request line and headers, in bytes. */
  headBytes: number;
  /** From the connection, or from the first byte of a later request, until the headers are complete. */
  headersMs: number;
  /** The same, until the request is complete. */
  requestMs: number;
  /** Idle time between two requests. */
  keepAliveMs: number;
  /** Time without a byte in either direction. A route may set another value on its response. */
  idleMs: number;
  /** False: the listener also gets requests of HTTP/1.1 without a Host, or with several, and must refuse them. */
  requireHost: boolean;
  /** Interval of the checks for `headersMs`, `requestMs` and `sendMs`. */
  checkMs: number;
}

const DEFAULT_LIMITS: ServerLimits = {
  connections: 5_000,
  connectionsPerClient: Infinity,
  requestsPerConnection: 10_000,
  headBytes: 16 * 1024,
  headersMs: 15_000,
  requestMs: 30_000,
  // Longer than the keep-alive of load balancers, so that they close first and never send into a closing connection.
  keepAliveMs: 75_000,
  idleMs: 60_000,
  unsentBytes: 256 * 1024 * 1024,
  sendMs: 120_000,
  checkMs: 5_000,
  requireHost: true,
};

/**
 * Creates an HTTP server whose memory use does not depend on its clients. The requests of a connection are read and
 * served one at a time, and a client that sends or reads too slowly is disconnected.
 */
export function createLimitedServer(listener: RequestListener, overrides: Partial<ServerLimits> = {}): Server {
  const limits = { ...DEFAULT_LIMITS, ...overrides };
  const serve = limits.requireHost ? refusingSeveralHosts(listener) : listener;
  const connections = new WeakMap<Socket, SerialConnection>();
  const mayConnect = countByClient(limits.connectionsPerClient);
  const unsent = new UnsentResponses(limits);
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.headBytes,
      // Node's own answer to a request without a Host has no body.
      requireHostHeader: limits.requireHost,
    },
    (request, response) => {
      unsent.watch(response);
      connections.get(request.socket)?.add(request, response);
    },
  );
  // Runs after the server's own connection handler.
  server.on('connection', (socket) => {
    if (mayConnect(socket)) connections.set(socket, new SerialConnection(socket, serve));
    else socket.destroy();
  });
  server.timeout = limits.idleMs;
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = limits.requestsPerConnection;
  server.on('drop', () => server.closeIdleConnections());
  const sweep = setInterval(() => unsent.sweep(), limits.checkMs).unref();
  server.once('close', () => clearInterval(sweep));
  return server;
}

/** Programs of this machine, such as a proxy that nobody was told to trust, are not strangers. */
const OWN_MACHINE: ReadonlySet<string> = new Set(['127.0.0.1', '0:0:0']);

/** Whether a client may have one more connection, which is counted until it closes. */
function countByClient(most: number): (socket: Socket) => boolean {
  const counts = new Map<string, number>();
  return (socket) => {
    const client = clientOf(socket);
    if (OWN_MACHINE.has(client)) return true;
    const count = counts.get(client) ?? 0;
    if (count >= most) return false;
    counts.set(client, count + 1);
    socket.once('close', () => {
      const left = counts.get(client)! - 1;
      if (left === 0) counts.delete(client);
      else counts.set(client, left);
    });
    return true;
  };
}

/** Whoever has an IPv6 address may have its whole /48, which is assigned to one site. */
function clientOf({ remoteAddress = '' }: Socket): string {
  if (!ipaddr.isValid(remoteAddress)) return remoteAddress;
  const address = ipaddr.process(remoteAddress);
  return 'parts' in address ? address.parts.slice(0, 3).join(':') : address.toString();
}

/** Node.js itself refuses only requests without one. */
function refusingSeveralHosts(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (countHosts(request) > 1) response.writeHead(400, { connection: 'close' }).end();
    else listener(request, response);
  };
}
