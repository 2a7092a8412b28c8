import type { IncomingMessage } from 'node:http';

/** How many Host headers a request has. Node.js reports the first one; a proxy may have acted on another. */
export function countHosts({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host')
    .length;
}
