import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { errorCode } from '../runtime/errors.ts';
import { sharedResult } from '../runtime/single-flight.ts';
import { LocalFault } from './local-fault.ts';

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
      throw new LocalFault('name_servers_away', `no name server answers; the lookup of ${hostname} failed`);
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
