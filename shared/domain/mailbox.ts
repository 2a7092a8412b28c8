const ADDRESS = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;
const LONGEST_ADDRESS = 254;
/** Providers that deliver a.b@ and ab@ to the same mailbox. */
const DOTS_IGNORED = new Set(['gmail.com']);
const SAME_PROVIDER: Readonly<Record<string, string>> = { 'googlemail.com': 'gmail.com' };

/** Whether a text has the shape of an e-mail address; nothing is said about mail reaching it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= LONGEST_ADDRESS && ADDRESS.test(text);
}

/**
 * The identity of the mailbox behind an address: lower case, without a plus tag, without dots where the provider ignores
 * them. Two addresses with one mailbox are one account. Mail goes to the address as it was given, never to this.
 */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@');
  const givenDomain = address.slice(at + 1).toLowerCase();
  const domain = SAME_PROVIDER[givenDomain] ?? givenDomain;
  const local = address.slice(0, at).toLowerCase();
  // A local part that is only a tag ("+x@") has no name to fall back to.
  const untagged = local.indexOf('+') > 0 ? local.slice(0, local.indexOf('+')) : local;
  return `${DOTS_IGNORED.has(domain) ? untagged.replaceAll('.', '') : untagged}@${domain}`;
}
