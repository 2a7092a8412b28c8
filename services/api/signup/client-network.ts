import ipaddr from 'ipaddr.js';

/** A network that an address counts for, and how many household allowances it gets. */
export interface ClientNetwork {
  network: string;
  times: number;
}

const IPV4_PREFIX = 24;
/**
 * The prefixes that providers assign: a /64 to a household or server, a /56 to most lines, a /48 to a site. Each
 * contains 256 of the previous size but belongs to one customer, so it gets a few times the allowance and not 256
 * times.
 */
const IPV6_PREFIXES = [
  { prefix: 64, times: 1 },
  { prefix: 56, times: 2 },
  { prefix: 48, times: 4 },
] as const;

/** That of everybody whose address a proxy does not tell. */
export const UNKNOWN_NETWORK = 'unknown';
/** Some proxies forward the port as well: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)$/;

/**
 * The networks that a client's address counts for, smallest first: its /24, or its /64, /56 and /48. An IPv4-mapped
 * IPv6 address counts as IPv4. Everything that is not an address, as a proxy may forward, counts as one network.
 */
export function networksOf(given: string | undefined): [ClientNetwork, ...ClientNetwork[]] {
  const [, ipv4, ipv6] = WITH_PORT.exec(given ?? '') ?? [];
  const address = ipv4 ?? ipv6 ?? given;
  if (address === undefined || !ipaddr.isValid(address)) return [{ network: UNKNOWN_NETWORK, times: 1 }];
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') {
    const network = ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/${IPV4_PREFIX}`);
    return [{ network: `${network.toString()}/${IPV4_PREFIX}`, times: 1 }];
  }
  const [household, ...larger] = IPV6_PREFIXES;
  const networkOf = ({ prefix, times }: { prefix: number; times: number }) => {
    const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${prefix}`);
    return { network: `${network.toString()}/${prefix}`, times };
  };
  return [networkOf(household), ...larger.map(networkOf)];
}
