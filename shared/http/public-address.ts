import ipaddr from 'ipaddr.js';
import type { AddressLookup } from './address-lookup.ts';
import { isBlockedPort } from './blocked-port.ts';

/** All addresses of the public IPv6 Internet lie here; ipaddr.js calls everything it has no name for unicast. */
const IPV6_GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** A cloud's metadata and agent endpoint that lies in public space yet is reachable only from inside. */
const CLOUD_INTERNAL = new Set(['168.63.129.16']);

/**
 * True when an IP address may be a receiver on the public Internet. Everything that could name this machine, its
 * network or a way around this check is refused: private, loopback, link-local, shared, benchmarking, documentation,
 * multicast, reserved; for IPv6 also what embeds an IPv4 address (mapped, NAT64, 6to4, Teredo). What does not parse is
 * not public.
 *
 * @param ip as a resolver or a socket prints it, without brackets
 */
export function isPublicAddress(ip: string): boolean {
  if (!ipaddr.isValid(ip) || CLOUD_INTERNAL.has(ip)) return false;
  const address = ipaddr.parse(ip);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(IPV6_GLOBAL_UNICAST);
}

/** The IP address that a URL's host is, in any notation the URL parser knows; undefined when the host is a name. */
export function addressLiteral(url: URL): string | undefined {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return ipaddr.isValid(host) ? host : undefined;
}

export type UrlRefusal = 'scheme' | 'credentials' | 'port' | 'blocked_address';

export type PublicUrlCheck = { ok: true } | { ok: false; reason: 'invalid' | UrlRefusal };

export interface PublicUrlOptions {
  /** Development and tests: http://, every address and every port are accepted too. */
  allowPrivate: boolean;
  /** Addresses of a name; rejects when there are none. */
  lookup: AddressLookup;
}

/**
 * Whether a URL may be stored as a receiver: https, no credentials in it, no port of another protocol, and an address
 * that is public, or a name all of whose addresses are public now. A name that does not resolve is accepted: its
 * deliveries tell. This is a courtesy to the user; what protects is that sendOutbound checks the address again whenever
 * it connects.
 */
export async function checkPublicUrl(text: string, options: PublicUrlOptions): Promise<PublicUrlCheck> {
  if (!URL.canParse(text)) return { ok: false, reason: 'invalid' };
  const url = new URL(text);
  const refusal = urlRefusal(url, options.allowPrivate);
  if (refusal) return { ok: false, reason: refusal };
  if (options.allowPrivate || addressLiteral(url) !== undefined) return { ok: true };

  let addresses: string[];
  try {
    addresses = await options.lookup(url.hostname);
  } catch {
    return { ok: true };
  }
  return addresses.every(isPublicAddress) ? { ok: true } : { ok: false, reason: 'blocked_address' };
}

/** What is wrong with a URL before any name is resolved; undefined when nothing is. */
export function urlRefusal(url: URL, allowPrivate: boolean): UrlRefusal | undefined {
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return 'scheme';
  if (url.username !== '' || url.password !== '') return 'credentials';
  if (!allowPrivate && isBlockedPort(url)) return 'port';
  const literal = addressLiteral(url);
  if (literal !== undefined && !allowPrivate && !isPublicAddress(literal)) return 'blocked_address';
  return undefined;
}
