import { Socket, isIPv6 } from 'node:net';
import { Pool } from 'undici';

/** Opens connections through an HTTP proxy. */
export interface ProxyTunnel {
  /**
   * A raw connection to `address`:`port`. The proxy is given the address that was checked, never a name it would resolve itself.
   *
   * @throws Error when the proxy is away, refuses or does not answer in time
   */
  open(address: string, port: number): Promise<Socket>;
  close(): Promise<void>;
}

/** @param proxyUrl http://[user:password@]host:port */
export function createProxyTunnel(proxyUrl: string, timeoutMs: number): ProxyTunnel {
  const url = new URL(proxyUrl);
  const pool = new Pool(url.origin, { connect: { timeout: timeoutMs } });
  const authorization = proxyAuthorization(url);
  return {
    async open(address, port) {
      const path = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
      const { statusCode, socket } = await connect(pool, path, authorization, timeoutMs);
      if (statusCode >= 200 && statusCode < 300 && socket instanceof Socket) return socket;
      socket.on('error', () => undefined).destroy();
      throw new Error(`the proxy answered ${statusCode}`);
    },
    close: () => pool.destroy(),
  };
}

/** Errors are wrapped: undici takes the code of some of its own for a lost, reusable connection, and would try for ever. */
async function connect(pool: Pool, path: string, authorization: Record<string, string>, timeoutMs: number) {
  try {
    return await pool.connect({
      path,
      headers: { host: path, ...authorization },
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    throw new Error('no tunnel through the proxy', { cause: error });
  }
}

function proxyAuthorization(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
