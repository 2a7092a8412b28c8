import { Socket, isIPv6 } from 'node:net';
import { Pool } from 'undici';
import { LocalFault } from './local-fault.ts';

/** Opens connections through an HTTP proxy. */
export interface ProxyTunnel {
  /**
   * Opens a raw connection to `address`:`port`. The proxy receives the checked address and never a name that it would
   * resolve itself.
   *
   * @throws LocalFault when the proxy is unreachable or refuses us
   * @throws Error when the proxy cannot reach the address, or does not answer in time
   */
  open(address: string, port: number): Promise<Socket>;
  close(): Promise<void>;
}

/**
 * The proxy is near. This is well below a request's deadline, so that a missing proxy is not mistaken for a slow
 * receiver.
 */
const PROXY_CONNECT_TIMEOUT_MS = 3_000;
/** Statuses of a proxy that cannot reach the receiver. */
const RECEIVER_UNREACHABLE = new Set([502, 503, 504]);

/** @param proxyUrl http://[user:password@]host:port */
export function createProxyTunnel(proxyUrl: string, timeoutMs: number): ProxyTunnel {
  const url = new URL(proxyUrl);
  const pool = new Pool(url.origin, { connect: { timeout: Math.min(timeoutMs, PROXY_CONNECT_TIMEOUT_MS) } });
  const authorization = proxyAuthorization(url);
  return {
    async open(address, port) {
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
