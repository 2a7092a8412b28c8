/** An address that mail can be sent to. */
export interface EmailAddress {
  /** The local part as it was given, with the domain in ASCII and lower case. */
  address: string;
  domain: string;
}

/** RFC 5321, 4.5.3.1: octets of a local part, and of a path without its angle brackets. */
const LONGEST_LOCAL_PART = 64;
const LONGEST_ADDRESS = 254;

/**
 * RFC 5322's dot-atom: no quotes, no comments, no blanks, and so nothing that a mail's header or an SMTP command gives
 * a meaning.
 */
const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** What a domain may be written with. A URL parser, which turns it to ASCII, would read anything else its own way. */
const DOMAIN_CHARACTERS = /^[\p{L}\p{M}\p{N}.-]+$/u;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** The last label is no number: an IP address, in any notation, is no domain. */
const HOST_NAME = new RegExp(`^(?:${LABEL}\\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{0,58}[a-z0-9])$`);

/**
 * Reads one plain address, `name@host.domain`. Stricter than the standards: quoted names, comments, address lists,
 * names beyond ASCII, IP addresses, hosts without a dot and a dot at the end are refused, so that what is accepted is
 * one recipient wherever it is written.
 *
 * @returns undefined when the text is no such address; nothing is said about mail reaching it
 */
export function parseEmailAddress(text: string): EmailAddress | undefined {
  if (text.length > LONGEST_ADDRESS) return undefined;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  if (local.length > LONGEST_LOCAL_PART || !DOT_ATOM.test(local)) return undefined;
  const domain = asciiDomain(text.slice(at + 1));
  if (domain === undefined) return undefined;
  const address = `${local}@${domain}`;
  return address.length <= LONGEST_ADDRESS ? { address, domain } : undefined;
}

/** A domain in ASCII and lower case; undefined when it is no host name. */
function asciiDomain(text: string): string | undefined {
  if (!DOMAIN_CHARACTERS.test(text)) return undefined;
  const domain = URL.parse(`http://${text}`)?.hostname;
  return domain !== undefined && HOST_NAME.test(domain) ? domain : undefined;
}
