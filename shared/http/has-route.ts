import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';

/**
 * Whether this machine has a route to an address. Connecting a UDP socket looks the route up and sends nothing.
 *
 * @param address an IPv4 or IPv6 address
 */
export async function hasRoute(address: string): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false)).once('connect', () => resolve(true));
      socket.connect(DISCARD_PORT, address);
    });
  } finally {
    socket.close();
  }
}

/** Any port will do. This one is that of the discard protocol (RFC 863). */
const DISCARD_PORT = 9;

/**
 * What `connect` fails with when this machine has no route, but also when a router on the way answers that it has none,
 * or that the traffic is prohibited: Linux reports ICMP's "network unreachable" (and for IPv6 "administratively
 * prohibited") like a fault of its own.
 */
const ROUTE_CODES = new Set(['ENETUNREACH', 'EACCES']);

/**
 * Whether a failed connection that looks like this side's fault was refused by a router on the way: for any of its
 * addresses this machine does have a route.
 */
export async function wasRefusedOnTheWay(error: unknown, isRouted: typeof hasRoute = hasRoute): Promise<boolean> {
  if (!(error instanceof Error)) return false;
  const causes = error instanceof AggregateError ? (error.errors as unknown[]) : [error.cause];
  for (const cause of causes) if (await wasRefusedOnTheWay(cause, isRouted)) return true;
  if (!('code' in error && ROUTE_CODES.has(String(error.code)) && 'address' in error)) return false;
  return isRouted(String(error.address));
}
