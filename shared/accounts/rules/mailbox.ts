import { createHmac, hkdfSync } from 'node:crypto';
import { getDomain } from 'tldts';

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

const ADDRESS = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

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

/** Domains where many unrelated people have mailboxes. Many sign-ups a day from one of them do not indicate abuse. */
const LARGE_PROVIDERS: ReadonlySet<string> = new Set(
  [
    'gmail.com proton.me icloud.com me.com mac.com aol.com fastmail.com zoho.com zohomail.com hey.com tutanota.com tuta.com mail.com email.com',
    'outlook.com hotmail.com live.com msn.com passport.com hotmail.co.uk hotmail.fr hotmail.de hotmail.it hotmail.es live.co.uk live.fr live.nl',
    'outlook.fr outlook.de outlook.es outlook.it outlook.jp outlook.com.br',
    'yahoo.com ymail.com rocketmail.com myyahoo.com yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.ca yahoo.in yahoo.co.in yahoo.co.jp',
    'yahoo.com.br yahoo.com.ar yahoo.com.mx yahoo.com.au yahoo.com.tw yahoo.com.hk yahoo.co.id yahoo.com.ph yahoo.com.sg yahoo.com.vn',
    'gmx.de gmx.net gmx.com gmx.at gmx.ch gmx.co.uk web.de t-online.de freenet.de posteo.de mailbox.org bluewin.ch',
    'orange.fr wanadoo.fr free.fr sfr.fr laposte.net libero.it virgilio.it tiscali.it telenet.be skynet.be ziggo.nl kpnmail.nl',
    'wp.pl o2.pl onet.pl interia.pl seznam.cz centrum.cz abv.bg ukr.net',
    'mail.ru bk.ru inbox.ru list.ru internet.ru rambler.ru yandex.ru yandex.com ya.ru',
    'qq.com foxmail.com 163.com 126.com yeah.net sina.com sohu.com aliyun.com naver.com daum.net hanmail.net kakao.com nate.com',
    'docomo.ne.jp ezweb.ne.jp softbank.ne.jp rediffmail.com uol.com.br bol.com.br terra.com.br',
    'comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net shaw.ca rogers.com bell.net',
    'btinternet.com sky.com virginmedia.com talktalk.net bigpond.com optusnet.com.au xtra.co.nz',
  ].flatMap((domains) => domains.split(' ')),
);

export function isLargeProvider(domain: string): boolean {
  return LARGE_PROVIDERS.has(domain);
}

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

/** Identifies a mailbox without revealing it. The same mailbox always has the same hash. */
export interface MailboxHash {
  (mailbox: string): Buffer;
  /** Every hash that the mailbox may be stored under: the one above, and those of the keys before. */
  all(mailbox: string): Buffer[];
}

/**
 * HMAC-SHA256 with a key derived (HKDF) from the installation's secret key, so that the database alone does not allow
 * guessing addresses. With another secret key every mailbox gets another hash.
 */
export function createMailboxHash(secretKey: string, previousKeys: readonly string[] = []): MailboxHash {
  const keys = [secretKey, ...previousKeys].map((one) =>
    Buffer.from(hkdfSync('sha256', one, '', 'forum-monitor mailboxes v1', 32)),
  );
  const all = (mailbox: string) => keys.map((key) => createHmac('sha256', key).update(mailbox).digest());
  return Object.assign((mailbox: string) => createHmac('sha256', keys[0]!).update(mailbox).digest(), { all });
}

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

const CREDITED_PROVIDERS: readonly CreditedProvider[] = [
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
const CREDITED_PROVIDER_OF: ReadonlyMap<string, CreditedProvider> = new Map(
  CREDITED_PROVIDERS.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)),
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
  const { domains = [domain], unify, spellings } = CREDITED_PROVIDER_OF.get(domain) ?? {};
  const unified = unify?.(local) ?? local;
  const locals = [unified, local, ...(spellings?.(unified) ?? [])];
  return [...new Set(locals.flatMap((one) => domains.map((at) => `${one}@${at}`)))];
}
