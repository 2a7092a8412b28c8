import { Resolver, lookup as systemLookup } from 'node:dns/promises';

/** All addresses of a host name, IPv4 first. Rejects when it has none or the resolver does not answer. */
export type AddressLookup = (hostname: string) => Promise<string[]>;

/** Two tries fit into a webhook's 8 s and leave time to connect. */
const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;

/**
 * Resolves names without Node's thread pool: getaddrinfo may use only two of its threads at a time, so two names whose servers
 * are silent would stall every other receiver. It therefore knows no hosts file; `localhost` is answered as RFC 6761 says.
 */
export function createDnsLookup(): AddressLookup {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  return async (hostname) => {
    if (/(^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw new Error(`${hostname} does not resolve`);
    return addresses;
  };
}

/** Resolves as other programs on this machine do, hosts file included: for development, where receivers are local. */
export function createSystemLookup(): AddressLookup {
  return async (hostname) => {
    const found = await systemLookup(hostname, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  };
}
