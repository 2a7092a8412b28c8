import { getDomain } from 'tldts';

/**
 * The registered domain of a host name: `mail.a.example.co.uk` gives `example.co.uk`. It uses the public suffix list
 * (publicsuffix.org), only its registry section: names below `github.io` or `duckdns.org` are free and unlimited, so
 * `a.github.io` gives `github.io`. The list is that of the installed package. An unknown suffix is the last label.
 *
 * @param domain a host name in ASCII and lower case, without a final dot; IDN as `xn--`
 * @returns the name itself when it is a public suffix
 */
export function registrableDomain(domain: string): string {
  return getDomain(domain, { allowPrivateDomains: false, extractHostname: false }) ?? domain;
}
