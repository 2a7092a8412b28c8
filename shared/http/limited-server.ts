import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { SerialConnection } from './serial-connection.ts';
import { UnsentAnswers } from './unsent-answers.ts';
import type { UnsentLimits } from './unsent-answers.ts';

/** What clients may make a server hold, and for how long. Times are milliseconds. */
export interface ServerLimits extends UnsentLimits {
  /** Connections at once. One more is closed, and so are those that are idle. */
  connections: number;
  /** Requests of one connection; then it is closed, so that long-lived ones spread over processes anew. */
  requestsPerConnection: number;
  /** Bytes of the request line and headers. */
  headBytes: number;
  /** From the connection, or the first byte of a further request, until the headers are there. */
  headersMs: number;
  /** Likewise, until the request is there whole. */
  requestMs: number;
  /** Between two requests. */
  keepAliveMs: number;
  /** Without a byte taken by the client or sent by it. A route may set another on its response. */
  idleMs: number;
  /** How often `headersMs`, `requestMs` and `sendMs` are looked at. */
  checkMs: number;
}

const LIMITS: ServerLimits = {
  connections: 5_000,
  requestsPerConnection: 10_000,
  headBytes: 16 * 1024,
  headersMs: 15_000,
  requestMs: 30_000,
  // Longer than load balancers keep theirs, so that they close first and never send into a closing connection.
  keepAliveMs: 75_000,
  idleMs: 60_000,
  unsentBytes: 256 * 1024 * 1024,
  sendMs: 120_000,
  checkMs: 5_000,
};

/**
 * An HTTP server whose memory does not depend on what its clients do: the requests of a connection are read and served
 * one after the other, and whoever sends or takes too slowly is cut off.
 */
export function createLimitedServer(listener: RequestListener, given: Partial<ServerLimits> = {}): Server {
  const limits = { ...LIMITS, ...given };
  const connections = new WeakMap<Socket, SerialConnection>();
  const unsent = new UnsentAnswers(limits);
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.headBytes,
    },
    (request, response) => {
      unsent.watch(response);
      connections.get(request.socket)?.add(request, response);
    },
  );
  // After the server's own handler of new connections.
  server.on('connection', (socket) => connections.set(socket, new SerialConnection(socket, listener)));
  server.timeout = limits.idleMs;
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = limits.requestsPerConnection;
  server.on('drop', () => server.closeIdleConnections());
  const sweep = setInterval(() => unsent.sweep(), limits.checkMs).unref();
  server.once('close', () => clearInterval(sweep));
  return server;
}
