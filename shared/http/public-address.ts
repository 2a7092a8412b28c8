import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { errorCode } from '../runtime/errors.ts';
import { sharedResult } from '../runtime/single-flight.ts';
import { LocalFault } from './local-fault.ts';

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

/**
 * Resolves a host name to all of its addresses, IPv4 first. Rejects when it has none or the resolver does not answer.
 * When our own name servers do not answer, it rejects with a LocalFault, or with a system error that counts as one.
 */
export type AddressLookup = (hostname: string) => Promise<string[]>;

/** Two tries fit into a webhook's 8 s and leave time to connect. */
const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;
/** Every working name server knows the servers of the root. */
const PROBE_NAME = '.';
const PROBE_TIMEOUT_MS = 1_000;
const PROBE_KEPT_MS = 2_000;
/**
 * Answers of a working name server for a name that does not exist. Any other failure may be the name server's own
 * fault.
 */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY', 'EFORMERR']);

/**
 * Resolves names without Node's thread pool. getaddrinfo may use only two of its threads at a time, so two names with
 * silent servers would stall every other receiver. It therefore does not read the hosts file; `localhost` is answered
 * as RFC 6761 requires.
 *
 * A name without an answer is its owner's fault, unless our name servers do not answer for the root either: then the
 * lookup rejects with a LocalFault.
 *
 * @param servers addresses of the name servers, `host:port`; default: the system's
 */
export function createDnsLookup(servers?: readonly string[]): AddressLookup {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  const probe = new Resolver({ timeout: PROBE_TIMEOUT_MS, tries: 1 });
  if (servers) for (const oneResolver of [resolver, probe]) oneResolver.setServers(servers);
  const nameServersAnswer = sharedResult(() => resolvesRoot(probe), PROBE_KEPT_MS);
  return async (hostname) => {
    if (/(^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const isDenied = answers.some(
      (answer) => answer.status === 'rejected' && NO_SUCH_NAME.has(errorCode(answer.reason) ?? ''),
    );
    if (!isDenied && !(await nameServersAnswer())) {
      throw new LocalFault('name_servers_away', `no name server responds; the lookup of ${hostname} failed`);
    }
    throw new Error(`${hostname} does not resolve`);
  };
}

async function resolvesRoot(probe: Resolver): Promise<boolean> {
  try {
    await probe.resolveNs(PROBE_NAME);
    return true;
  } catch (error) {
    return NO_SUCH_NAME.has(errorCode(error) ?? '');
  }
}

/** Resolves like other programs on this machine, hosts file included. For development, where receivers are local. */
export function createSystemLookup(): AddressLookup {
  return async (hostname) => {
    const found = await systemLookup(hostname, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  };
}
