import { Socket, isIPv6 } from 'node:net';
import type { LookupFunction } from 'node:net';
import { buildConnector, Pool } from 'undici';
import type { AddressLookup } from './public-address.ts';
import { LocalFault } from './local-fault.ts';
import { addressLiteral } from './public-address.ts';

export class BlockedAddressError extends Error {
  override name = 'BlockedAddressError';
}

export class UnresolvedNameError extends Error {
  override name = 'UnresolvedNameError';
}

export interface ConnectorDeps {
  lookup: AddressLookup;
  isAllowed: (ip: string) => boolean;
  tunnel: ProxyTunnel | undefined;
  /** For the connection and the TLS handshake, in milliseconds. */
  timeoutMs: number;
}

/**
 * Creates a connector that connects only to allowed addresses. A name is resolved once per connection and refused when
 * any of its addresses is not allowed. The connection goes to one of exactly those addresses, so the result of a later
 * lookup does not matter. The peer address of the socket is checked before a request is written to it.
 */
export function createCheckedConnector(options: ConnectorDeps): buildConnector.connector {
  const plain = buildConnector({ allowH2: false, timeout: options.timeoutMs, lookup: checkedLookup(options) });
  return (target, callback) => {
    const literal = targetLiteral(target);
    if (literal !== undefined && !options.isAllowed(literal)) {
      callback(new BlockedAddressError(`${literal} is not a public address`), null);
    } else if (options.tunnel) {
      connectThroughTunnel(target, options, options.tunnel, plain).then(
        (socket) => {
          callback(null, socket);
        },
        (error: unknown) => {
          callback(error as Error, null);
        },
      );
    } else {
      plain(target, (...[error, socket]) => {
        if (error) callback(error, null);
        else checkPeer(socket, options.isAllowed, callback);
      });
    }
  };
}

function targetLiteral(target: buildConnector.Options): string | undefined {
  return addressLiteral(new URL(`${target.protocol}//${target.host ?? target.hostname}`));
}

function checkPeer(socket: Socket, isAllowed: (ip: string) => boolean, callback: buildConnector.Callback): void {
  const peer = socket.remoteAddress;
  if (peer !== undefined && isAllowed(peer)) {
    callback(null, socket);
    return;
  }
  socket.destroy();
  callback(new BlockedAddressError(`the peer address ${peer ?? '(none)'} is not a public address`), null);
}

async function connectThroughTunnel(
  target: buildConnector.Options,
  options: ConnectorDeps,
  tunnel: ProxyTunnel,
  plain: buildConnector.connector,
): Promise<Socket> {
  const address = targetLiteral(target) ?? (await resolveAllowed(target.hostname, options))[0]!;
  const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
  const socket = await tunnel.open(address, port);
  if (target.protocol !== 'https:') return socket;
  return new Promise((resolve, reject) => {
    plain({ ...target, httpSocket: socket }, (...[error, secured]) => {
      if (error) reject(error);
      else resolve(secured);
    });
  });
}

function checkedLookup(options: ConnectorDeps): LookupFunction {
  return (hostname, _, callback) => {
    resolveAllowed(hostname, options).then(
      (addresses) => {
        callback(
          null,
          addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
        );
      },
      (error: unknown) => {
        callback(error as Error, []);
      },
    );
  };
}

async function resolveAllowed(hostname: string, options: ConnectorDeps): Promise<string[]> {
  let addresses: string[];
  try {
    addresses = await options.lookup(hostname);
  } catch (error) {
    throw new UnresolvedNameError(`${hostname} does not resolve`, { cause: error });
  }
  if (addresses.length === 0) throw new UnresolvedNameError(`${hostname} has no address`);
  const refused = addresses.find((address) => !options.isAllowed(address));
  if (refused !== undefined)
    throw new BlockedAddressError(`${hostname} resolves to ${refused}, which is not a public address`);
  return addresses;
}

/**
 * The proxy is near. This is well below a request's deadline, so that a missing proxy is not mistaken for a slow
 * receiver.
 */
const PROXY_CONNECT_TIMEOUT_MS = 3_000;
/** Statuses of a proxy that cannot reach the receiver. */
const RECEIVER_UNREACHABLE = new Set([502, 503, 504]);

export type ProxyTunnel = ReturnType<typeof createProxyTunnel>;

/** Opens connections through an HTTP proxy. @param proxyUrl http://[user:password@]host:port */
export function createProxyTunnel(proxyUrl: string, timeoutMs: number) {
  const url = new URL(proxyUrl);
  const pool = new Pool(url.origin, { connect: { timeout: Math.min(timeoutMs, PROXY_CONNECT_TIMEOUT_MS) } });
  const authorization = proxyAuthorization(url);
  return {
    /**
     * Opens a raw connection. The proxy receives the checked address and never a name that it would resolve itself.
     *
     * @throws LocalFault when the proxy is unreachable or refuses us
     * @throws Error when the proxy cannot reach the address, or does not answer in time
     */
    async open(address: string, port: number): Promise<Socket> {
      const path = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
      const { statusCode, socket } = await connect(pool, path, authorization, timeoutMs);
      if (statusCode >= 200 && statusCode < 300 && socket instanceof Socket) return socket;
      socket.on('error', () => undefined).destroy();
      const message = `the proxy answered ${statusCode}`;
      throw RECEIVER_UNREACHABLE.has(statusCode) ? new Error(message) : new LocalFault('proxy_refused', message);
    },
    close: () => pool.destroy(),
  };
}

/**
 * Wraps errors, because undici treats some of its own error codes as a lost, reusable connection and would retry
 * forever.
 */
async function connect(pool: Pool, path: string, authorization: Record<string, string>, timeoutMs: number) {
  try {
    return await pool.connect({
      path,
      headers: { host: path, ...authorization },
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    const message = 'the proxy did not open a tunnel';
    // The proxy is connected and silent, so it is waiting for the receiver.
    if (error instanceof Error && error.name === 'TimeoutError') throw new Error(message, { cause: error });
    throw new LocalFault('proxy_away', message, { cause: error });
  }
}

function proxyAuthorization(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
