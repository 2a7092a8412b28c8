import type { IncomingMessage } from 'node:http';
import { addressLiteral, isLoopback } from './public-address.ts';

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
