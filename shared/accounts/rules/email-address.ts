/** An address that mail can be sent to. */
export interface EmailAddress {
  /** The local part as given, with the domain in ASCII and lower case. */
  address: string;
  domain: string;
}

/** RFC 5321, 4.5.3.1: maximum octets of a local part, and of a path without its angle brackets. */
const MAX_LOCAL_PART_LENGTH = 64;
const MAX_ADDRESS_LENGTH = 254;

/** The dot-atom of RFC 5322: nothing that has a meaning in a mail header or an SMTP command. */
const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Characters of a domain. The URL parser that converts it to ASCII would interpret any other character. */
const DOMAIN_CHARACTERS = /^[\p{L}\p{M}\p{N}.-]+$/u;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** The last label must not be a number: an IP address in any notation is not a domain. */
const HOST_NAME = new RegExp(`^(?:${LABEL}\\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{0,58}[a-z0-9])$`);

/**
 * Parses one plain address, `name@host.domain`. It is stricter than the standards: it refuses quoted names, comments,
 * address lists, non-ASCII names, IP addresses, hosts without a dot and a final dot, so that every program reads an
 * accepted address as the same single recipient.
 *
 * @returns undefined when the text is not such an address; it does not check whether the mailbox exists
 */
export function parseEmailAddress(text: string): EmailAddress | undefined {
  if (text.length > MAX_ADDRESS_LENGTH) return undefined;
  const atIndex = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(atIndex, 0));
  if (local.length > MAX_LOCAL_PART_LENGTH || !DOT_ATOM.test(local)) return undefined;
  const domain = asciiDomain(text.slice(atIndex + 1));
  if (domain === undefined) return undefined;
  const address = `${local}@${domain}`;
  return address.length <= MAX_ADDRESS_LENGTH ? { address, domain } : undefined;
}

/** A domain in ASCII and lower case; undefined when it is not a host name. */
function asciiDomain(text: string): string | undefined {
  if (!DOMAIN_CHARACTERS.test(text)) return undefined;
  const domain = URL.parse(`http://${text}`)?.hostname;
  return domain !== undefined && HOST_NAME.test(domain) ? domain : undefined;
}
