import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';

/**
 * A request failed for a reason on this side: this machine, its name servers or its egress proxy. It says nothing about
 * the receiver.
 */
export class LocalFault extends Error {
  override name = 'LocalFault';
  readonly code: string;

  /** @param code a system error code, or name_servers_away, proxy_away, proxy_refused, ipv6_unreachable */
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * System errors that only this side can fix. EHOSTUNREACH is not included, because a receiver's firewall often answers
 * so. ECONNREFUSED, ECONNRESET and ETIMEDOUT belong to the receiver, unless they come from our proxy or name servers.
 */
const LOCAL_CODES = new Set([
  // Out of file descriptors, memory or ports.
  ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAI_MEMORY', 'EADDRNOTAVAIL', 'EADDRINUSE'],
  // No network, or none of the address's family. A router may also have answered so: see `wasRefusedOnTheWay`.
  ...['ENETUNREACH', 'ENETDOWN', 'EAFNOSUPPORT', 'EPROTONOSUPPORT'],
  // A firewall of this machine.
  ...['EACCES', 'EPERM'],
  // The system's resolver reaches no name server.
  ...['EAI_AGAIN', 'EAI_SYSTEM'],
]);

/** Errors for an IPv6 address when this machine has no IPv6, or no IPv6 route to the internet. */
const NO_FAMILY_CODES = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EACCES', 'EPERM']);
const IPV6_UNREACHABLE = 'ipv6_unreachable';

/**
 * Finds the code of a fault on this side; undefined when the receiver or its network may be the cause. Searches the
 * chain of causes. When several connection attempts failed, all must have failed here; the code of an IPv4 attempt is
 * preferred.
 */
export function localFaultCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof LocalFault) return error.code;
  if (error instanceof AggregateError && error.errors.length > 0) {
    const codes = error.errors.map(localFaultCode);
    if (codes.includes(undefined)) return undefined;
    return codes.find((code) => code !== IPV6_UNREACHABLE) ?? IPV6_UNREACHABLE;
  }
  if ('code' in error && LOCAL_CODES.has(String(error.code))) {
    const isIpv6Missing =
      NO_FAMILY_CODES.has(String(error.code)) && 'address' in error && isIPv6(String(error.address));
    return isIpv6Missing ? IPV6_UNREACHABLE : String(error.code);
  }
  return localFaultCode(error.cause);
}

/** Whether this machine has a route to an IP address. Connecting a UDP socket looks the route up and sends nothing. */
async function hasRoute(address: string): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false)).once('connect', () => resolve(true));
      // Any port will do: this is that of the discard protocol (RFC 863).
      socket.connect(9, address);
    });
  } finally {
    socket.close();
  }
}

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
export async function wasRefusedOnTheWay(error: unknown): Promise<boolean> {
  if (!(error instanceof Error)) return false;
  const causes = error instanceof AggregateError ? (error.errors as unknown[]) : [error.cause];
  for (const cause of causes) if (await wasRefusedOnTheWay(cause)) return true;
  if (!('code' in error && ROUTE_CODES.has(String(error.code)) && 'address' in error)) return false;
  return hasRoute(String(error.address));
}
