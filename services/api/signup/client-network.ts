import ipaddr from 'ipaddr.js';

const IPV4_PREFIX = 24;
/** What one household or office gets. */
const IPV6_PREFIX = 64;

/** Some proxies forward the port as well: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)$/;

/**
 * The network that a client's address counts for: its /24, or its /64. An IPv4 address written as IPv6 is an IPv4 address. Everything that is no
 * address, as a proxy may forward, is one network.
 */
export function networkOf(given: string | undefined): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(given ?? '') ?? [];
  const address = ipv4 ?? ipv6 ?? given;
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  const [network, prefix] =
    parsed.kind() === 'ipv4'
      ? [ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/${IPV4_PREFIX}`), IPV4_PREFIX]
      : [ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${IPV6_PREFIX}`), IPV6_PREFIX];
  return `${network.toString()}/${prefix}`;
}
