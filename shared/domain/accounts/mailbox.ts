const ADDRESS = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;
const MAX_ADDRESS_LENGTH = 254;

/** A provider that delivers several spellings of an address to one mailbox. */
interface Provider {
  /** Its domains for the same mailbox; the first is the canonical one. */
  domains: readonly string[];
  /** Characters that the provider ignores in the local part. */
  ignored: RegExp;
}

const PROVIDERS: readonly Provider[] = [
  { domains: ['gmail.com', 'googlemail.com'], ignored: /\./g },
  { domains: ['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'], ignored: /[._-]/g },
];
const PROVIDER_OF: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)),
);

/** Whether a text has the format of an e-mail address. It does not check whether the mailbox exists. */
export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && ADDRESS.test(text);
}

/**
 * The canonical form of an address: lower case, without a plus tag, and without dots where the provider ignores them.
 * Addresses with the same canonical form are one account. Mail is sent to the address as given, never to this form.
 */
export function mailboxOf(address: string): string {
  const atIndex = address.lastIndexOf('@');
  const givenDomain = address.slice(atIndex + 1).toLowerCase();
  const local = address.slice(0, atIndex).toLowerCase();
  // A local part that is only a tag ("+x@") stays as it is, because nothing would be left of it.
  const untagged = local.indexOf('+') > 0 ? local.slice(0, local.indexOf('+')) : local;
  const provider = PROVIDER_OF.get(givenDomain);
  if (!provider) return `${untagged}@${givenDomain}`;
  return `${untagged.replaceAll(provider.ignored, '')}@${provider.domains[0]!}`;
}
