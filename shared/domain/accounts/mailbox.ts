const ADDRESS = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;
const LONGEST_ADDRESS = 254;

/** A provider that delivers several spellings of an address to one mailbox. */
interface Provider {
  /** Its names for the same mailbox; the first stands for all. */
  domains: readonly string[];
  /** Characters of the local part that make no difference. */
  ignored: RegExp;
}

const PROVIDERS: readonly Provider[] = [
  { domains: ['gmail.com', 'googlemail.com'], ignored: /\./g },
  { domains: ['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'], ignored: /[._-]/g },
];
const PROVIDER_OF: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)),
);

/** Whether a text has the shape of an e-mail address; nothing is said about mail reaching it. */
export function isEmailAddress(text: string): boolean {
  return text.length <= LONGEST_ADDRESS && ADDRESS.test(text);
}

/**
 * The identity of the mailbox behind an address: lower case, without a plus tag, without dots where the provider
 * ignores them. Two addresses with one mailbox are one account. Mail goes to the address as it was given, never to
 * this.
 */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@');
  const givenDomain = address.slice(at + 1).toLowerCase();
  const local = address.slice(0, at).toLowerCase();
  // A local part that is only a tag ("+x@") has no name to fall back to.
  const untagged = local.indexOf('+') > 0 ? local.slice(0, local.indexOf('+')) : local;
  const provider = PROVIDER_OF.get(givenDomain);
  if (!provider) return `${untagged}@${givenDomain}`;
  return `${untagged.replaceAll(provider.ignored, '')}@${provider.domains[0]!}`;
}
