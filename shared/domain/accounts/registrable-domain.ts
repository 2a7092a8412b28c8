import { getDomain } from 'tldts';

/**
 * The domain that somebody registered, of which all names below are theirs: `mail.a.example.co.uk` is `example.co.uk`.
 * By the public suffix list (publicsuffix.org), its registries' part alone: of names below `github.io` or `duckdns.org`
 * anybody gets as many as they like for nothing, so `a.github.io` is `github.io`. The list is that of the installed
 * package; a suffix that it does not know is the last label.
 *
 * @param domain a host name in ASCII and lower case, without a dot at its end; IDN as `xn--`
 * @returns the name itself where it is a public suffix
 */
export function registrableDomain(domain: string): string {
  return getDomain(domain, { allowPrivateDomains: false, extractHostname: false }) ?? domain;
}
