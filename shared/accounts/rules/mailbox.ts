import { getDomain } from 'tldts';

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

/** Whether the domain of a mailbox belongs to a large provider. */
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
