import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { addressLiteral, isLoopback } from './public-address.ts';

/** Limits for the memory and time that clients may use. Times are milliseconds. */
export interface ServerLimits {
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
  /** Maximum bytes of complete responses that clients have not read, over all connections. */
  unsentBytes: number;
  /** Time that a client may take to read a complete response. */
  sendMs: number;
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
 * Creates an HTTP server whose memory use does not depend on its clients. A client that sends a request before it has
 * the answer to the one before, or that sends or reads too slowly, is disconnected: Node hands over all requests of a
 * chunk at once, so one that never reads could cause thousands of responses.
 */
export function createLimitedServer(listener: RequestListener, overrides: Partial<ServerLimits> = {}): Server {
  const limits = { ...DEFAULT_LIMITS, ...overrides };
  const mayConnect = countByClient(limits.connectionsPerClient);
  const unsent = new UnsentResponses(limits);
  const unanswered = new WeakSet<Socket>();
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
      const { socket } = request;
      if (unanswered.has(socket)) {
        socket.destroy();
        return;
      }
      unanswered.add(socket);
      // The kernel has the response, so it comes before any request of a client that waited for it.
      response.once('finish', () => unanswered.delete(socket));
      unsent.watch(response);
      // Node itself refuses only requests without a Host.
      if (limits.requireHost && countHosts(request) > 1) response.writeHead(400, { connection: 'close' }).end();
      else listener(request, response);
    },
  );
  server.on('connection', (socket) => {
    if (!mayConnect(socket)) socket.destroy();
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

/**
 * Tracks complete responses that clients have not read yet. A client that reads too slowly is disconnected. When all
 * unsent responses together exceed the limit, those that wait longest are disconnected.
 */
class UnsentResponses {
  private readonly limits: ServerLimits;
  /** Oldest first; `since` is the time by performance.now() when the response was complete. */
  private readonly responses = new Map<ServerResponse, { bytes: number; since: number }>();
  private total = 0;

  constructor(limits: ServerLimits) {
    this.limits = limits;
  }

  watch(response: ServerResponse): void {
    response.once('prefinish', () => this.add(response));
    // Emitted after a finish too, and when the connection is lost.
    response.once('close', () => this.remove(response));
  }

  /** Disconnects clients that read too slowly. */
  sweep(): void {
    for (const [response, { since }] of this.responses) {
      if (performance.now() - since < this.limits.sendMs) return;
      this.disconnect(response);
    }
  }

  private add(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0) return;
    this.responses.set(response, { bytes, since: performance.now() });
    this.total += bytes;
    for (const [oldest] of this.responses) {
      if (this.total <= this.limits.unsentBytes) return;
      this.disconnect(oldest);
    }
  }

  private disconnect(response: ServerResponse): void {
    this.remove(response);
    response.destroy();
  }

  private remove(response: ServerResponse): void {
    this.total -= this.responses.get(response)?.bytes ?? 0;
    this.responses.delete(response);
  }
}

/** How many Host headers a request has. Node.js reports the first one; a proxy may have acted on another. */
export function countHosts({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host')
    .length;
}

/** How a server is reached. */
export interface OwnHosts {
  /** The address that it is bound to. */
  listensOn: string;
  /** Names of it, in lower case. */
  names: readonly string[];
}

/**
 * Whether a request names this server, with any port since a forwarded one differs: by a loopback name or one of its
 * own; beyond loopback also by an address, or by a name without a dot as containers have. The page of a stranger who
 * points a name at this machine (DNS rebinding) names that. Browsers always send a Host.
 */
export function isForThisServer({ headers }: IncomingMessage, { listensOn, names }: OwnHosts): boolean {
  if (headers.host === undefined) return true;
  const url = URL.parse(`http://${headers.host}`);
  if (url === null) return false;
  if (isLoopback(url.hostname) || names.includes(url.hostname)) return true;
  return !isLoopback(listensOn) && (addressLiteral(url) !== undefined || !url.hostname.includes('.'));
}
