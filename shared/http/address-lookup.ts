import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { errorCode } from '../runtime/errors.ts';
import { LocalFault } from './local-fault.ts';

/**
 * All addresses of a host name, IPv4 first. Rejects when it has none or the resolver does not answer; with a
 * LocalFault, or a system error that is one, when our own name servers answer nothing.
 */
export type AddressLookup = (hostname: string) => Promise<string[]>;

/** Two tries fit into a webhook's 8 s and leave time to connect. */
const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;
/** Every name server that works knows the root's. */
const PROBE_NAME = '.';
const PROBE_TIMEOUT_MS = 1_000;
const PROBE_KEPT_MS = 2_000;
/** What a name server says of a name that is not there. All else may be the fault of the name server itself. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY', 'EFORMERR']);

/**
 * Resolves names without Node's thread pool: getaddrinfo may use only two of its threads at a time, so two names whose
 * servers are silent would stall every other receiver. It therefore knows no hosts file; `localhost` is answered as RFC
 * 6761 says.
 *
 * A name without an answer is the fault of its owner, unless our name servers know nothing of the root either: then the
 * lookup rejects with a LocalFault.
 *
 * @param servers addresses of the name servers, `host:port`; default: the system's
 */
export function createDnsLookup(servers?: readonly string[]): AddressLookup {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  const probe = new Resolver({ timeout: PROBE_TIMEOUT_MS, tries: 1 });
  if (servers) for (const each of [resolver, probe]) each.setServers(servers);
  const nameServersAnswer = keptFor(PROBE_KEPT_MS, () => knowsRoot(probe));
  return async (hostname) => {
    if (/(^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const isDenied = answers.some(
      (answer) => answer.status === 'rejected' && NO_SUCH_NAME.has(errorCode(answer.reason) ?? ''),
    );
    if (!isDenied && !(await nameServersAnswer())) {
      throw new LocalFault('name_servers_away', `no name server answers, asked for ${hostname}`);
    }
    throw new Error(`${hostname} does not resolve`);
  };
}

async function knowsRoot(probe: Resolver): Promise<boolean> {
  try {
    await probe.resolveNs(PROBE_NAME);
    return true;
  } catch (error) {
    return NO_SUCH_NAME.has(errorCode(error) ?? '');
  }
}

/** One call serves all who ask while it runs, and for a while after it. */
function keptFor(ms: number, ask: () => Promise<boolean>): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  return () => {
    answer ??= ask().finally(() => {
      setTimeout(() => (answer = undefined), ms).unref();
    });
    return answer;
  };
}

/** Resolves as other programs on this machine do, hosts file included: for development, where receivers are local. */
export function createSystemLookup(): AddressLookup {
  return async (hostname) => {
    const found = await systemLookup(hostname, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  };
}
