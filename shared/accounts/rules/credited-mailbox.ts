/** A provider that delivers further spellings of an address, which stay different accounts, to one mailbox. */
interface CreditedProvider {
  /** Its domains for the same mailbox; the first stands for all. */
  domains: readonly string[];
  /** One spelling of a local part for all that reach the same mailbox. */
  unify?: (local: string) => string;
  /** Other spellings under which credits may have been recorded, before `unify` was known here. */
  spellings?: (unified: string) => string[];
}

const YAHOO_DOMAINS = [
  'yahoo.com yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.ca yahoo.in yahoo.co.in yahoo.com.br yahoo.com.ar',
  'yahoo.com.mx yahoo.com.au yahoo.com.tw yahoo.com.hk yahoo.co.id yahoo.com.ph yahoo.com.sg yahoo.com.vn',
].flatMap((domains) => domains.split(' '));

/** A local part that begins with a hyphen stays as it is. */
function nameOfDisposable(local: string): string {
  const hyphenIndex = local.indexOf('-', 1);
  return local.startsWith('-') || hyphenIndex < 0 ? local : local.slice(0, hyphenIndex);
}

const PROVIDERS: readonly CreditedProvider[] = [
  {
    domains: 'yandex.ru ya.ru yandex.com yandex.by yandex.kz yandex.ua yandex.com.tr narod.ru'.split(' '),
    unify: (local) => local.replaceAll('.', '-'),
    spellings: (unified) => [unified.replaceAll('-', '.')],
  },
  { domains: ['icloud.com', 'me.com', 'mac.com'] },
  { domains: ['daum.net', 'hanmail.net'] },
  { domains: ['orange.fr', 'wanadoo.fr'] },
  // Disposable addresses are `base-keyword`; a name has no hyphen. One name may belong to different people on two of
  // these domains.
  ...YAHOO_DOMAINS.map((domain) => ({ domains: [domain], unify: nameOfDisposable })),
];
const PROVIDER_OF: ReadonlyMap<string, CreditedProvider> = new Map(
  PROVIDERS.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)),
);

/**
 * The form of a mailbox for which free credits are given once. It is coarser than the mailbox itself, by which accounts
 * are found: that one is stored, so its rules cannot change.
 *
 * @param mailbox as by mailboxOf
 */
export function creditedMailboxOf(mailbox: string): string {
  return creditedFormsOf(mailbox)[0]!;
}

/**
 * The forms under which the credits of a mailbox may be recorded: the one above first, then the mailbox itself and its
 * other spellings, which were recorded before there was a coarser form.
 */
export function creditedFormsOf(mailbox: string): string[] {
  const atIndex = mailbox.lastIndexOf('@');
  const [local, domain] = [mailbox.slice(0, atIndex), mailbox.slice(atIndex + 1)];
  const { domains = [domain], unify, spellings } = PROVIDER_OF.get(domain) ?? {};
  const unified = unify?.(local) ?? local;
  const locals = [unified, local, ...(spellings?.(unified) ?? [])];
  return [...new Set(locals.flatMap((one) => domains.map((at) => `${one}@${at}`)))];
}
