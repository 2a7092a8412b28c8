import ipaddr from 'ipaddr.js';
import type { AddressLookup } from './address-lookup.ts';

/** All public IPv6 addresses are in this range; ipaddr.js calls every address that it cannot classify unicast. */
const IPV6_GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** A cloud's metadata and agent endpoint, which is in public address space but only reachable from inside. */
const CLOUD_INTERNAL = new Set(['168.63.129.16']);

/**
 * Whether an IP address may be a receiver on the public internet. Refuses every address that could reach this machine,
 * its network, or bypass this check: private, loopback, link-local, shared, benchmarking, documentation, multicast,
 * reserved; for IPv6 also addresses that embed an IPv4 address (mapped, NAT64, 6to4, Teredo). Unparsable text is not
 * public.
 *
 * @param ip as a resolver or a socket prints it, without brackets
 */
export function isPublicAddress(ip: string): boolean {
  if (!ipaddr.isValid(ip) || CLOUD_INTERNAL.has(ip)) return false;
  const address = ipaddr.parse(ip);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(IPV6_GLOBAL_UNICAST);
}

/** The IP address in a URL's host, in any notation that URL parsers accept; undefined when the host is a name. */
export function addressLiteral(url: URL): string | undefined {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return ipaddr.isValid(host) ? host : undefined;
}

/** Whether a host, with or without the brackets of IPv6, is this machine for everybody who is on it. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(bare)) return ipaddr.process(bare).range() === 'loopback';
  return /(^|\.)localhost\.?$/.test(bare);
}

export type UrlRefusal = 'scheme' | 'credentials' | 'port' | 'blocked_address';

export type PublicUrlCheck = { ok: true } | { ok: false; reason: 'invalid' | UrlRefusal };

export interface PublicUrlOptions {
  /** Development and tests: also accept http://, every address and every port. */
  allowPrivate: boolean;
  /** Resolves a name; rejects when it has no address. */
  lookup: AddressLookup;
}

/**
 * Checks whether a URL may be stored as a receiver: https, no credentials, no port of another protocol, and a public
 * address, or a name whose addresses are all public now. A name that does not resolve is accepted, because its
 * deliveries will report it. This check only gives users early feedback; the egress client checks the address again on
 * every connection.
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

/** The reason to refuse a URL before any name is resolved; undefined when there is none. */
export function urlRefusal(url: URL, allowPrivate: boolean): UrlRefusal | undefined {
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return 'scheme';
  if (url.username !== '' || url.password !== '') return 'credentials';
  // Empty for the default port of the scheme, which is never blocked.
  if (!allowPrivate && BLOCKED_PORTS.has(url.port)) return 'port';
  const literal = addressLiteral(url);
  if (literal !== undefined && !allowPrivate && !isPublicAddress(literal)) return 'blocked_address';
  return undefined;
}

/**
 * Ports of other protocols (mail, databases, chat and more), from the Fetch standard's "port blocking":
 * https://fetch.spec.whatwg.org/#block-bad-port. A server that reads an HTTP request as its own protocol could do harm.
 */
const BLOCKED_PORTS = new Set(
  [
    [1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95],
    [101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179],
    [389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995],
    [1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
  ]
    .flat()
    .map(String),
);
