import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** Schemas of settings. A message says what is allowed; `loadConfig` adds the value of a setting that is quotable. */

/** The schemas of numbers and of words of a list: a wrong value of theirs is a slip, which its author wants to see. */
const QUOTABLE = z.registry<{ isQuotable: true }>();

/** Whether a rejected value of this setting may be repeated, in logs too. */
export function isQuotable(setting: z.ZodType): boolean {
  const inner = setting instanceof z.ZodOptional || setting instanceof z.ZodDefault ? setting.unwrap() : setting;
  return inner === setting ? QUOTABLE.has(setting) : isQuotable(inner as z.ZodType);
}

/** A number in plain decimal digits: no spaces, no exponents, no hexadecimal. */
function number(pattern: RegExp, min: number, max: number, message: string) {
  return z
    .string()
    .refine((text) => pattern.test(text) && Number(text) >= min && Number(text) <= max, { message })
    .transform(Number)
    .register(QUOTABLE, { isQuotable: true });
}

export const wholeNumber = (min: number, max: number) =>
  number(/^-?\d{1,15}$/, min, max, `must be a whole number from ${min} to ${max}`);

export const decimal = (min: number, max: number) =>
  number(/^\d{1,15}(\.\d{1,6})?$/, min, max, `must be a number from ${min} to ${max}`);

export const port = () => wholeNumber(0, 65_535);

export const flag = () =>
  z
    .enum(['0', '1'], { message: 'must be 0 or 1' })
    .transform((value) => value === '1')
    .register(QUOTABLE, { isQuotable: true });

/** One of these words. */
export function word<T extends string>(words: readonly [T, ...T[]]) {
  const message = `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return z.enum(words, { message }).register(QUOTABLE, { isQuotable: true });
}

export interface UrlRules {
  protocols: readonly string[];
  /** May hold user:password@. */
  credentials?: boolean;
  /** May hold ?options. */
  query?: boolean;
  path?: boolean;
  /** May leave out the host, as a database behind a Unix socket does. */
  noHost?: boolean;
}

/** @param split the URLs that the text stands for, each of which must keep the rules */
export function url(rules: UrlRules, split: (text: string) => readonly string[] = (text) => [text]) {
  const starts = rules.protocols.map((protocol) => `${protocol}://`).join(' or ');
  return z.string().superRefine((text, context) => {
    const fault = split(text)
      .map((each) => urlFault(each, rules, starts))
      .find((message) => message !== undefined);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });
}

function urlFault(text: string, rules: UrlRules, starts: string): string | undefined {
  const form = `must be a URL that starts with ${starts}`;
  // The parser removes spaces and line breaks, which other programs do not.
  if (!URL.canParse(text) || /[\s\\]/.test(text)) return form;
  const { protocol, hostname, port: given, username, password, search, hash, pathname } = new URL(text);
  if (!rules.protocols.some((name) => protocol === `${name}:` && text.toLowerCase().startsWith(`${name}://`)))
    return form;
  if (hostname === '' && rules.noHost !== true) return `${form} and a host`;
  if (given === '0') return 'must not have the port 0';
  if (rules.credentials !== true && username + password !== '') return 'must not contain a user or a password';
  if (rules.query !== true && search !== '') return 'must not contain a query (?…)';
  if (hash !== '') return 'must not contain a fragment (#…)';
  if (rules.path === false && pathname !== '/' && pathname !== '') return 'must not contain a path';
  return undefined;
}

/** Entries separated by commas; empty ones are dropped. */
export function list<T extends string>(item: z.ZodType<T, string>) {
  return z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item));
}

export function filledList(item: z.ZodType<string, string>, form: string) {
  return list(item).refine((entries) => entries.length > 0, { message: form });
}

const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

export function listenHost() {
  // A name that ends with a number is a mistyped IPv4 address.
  return z.string().refine((text) => isIP(text) !== 0 || (HOST_NAME.test(text) && !/(^|\.)\d+$/.test(text)), {
    message: 'must be an IP address or a host name, without http:// and without a port',
  });
}

const NAMED_RANGES = new Set(['loopback', 'linklocal', 'uniquelocal']);
const MOST_PROXIES = 32;

/** Express's syntax: true, false, the number of proxies, or their addresses and ranges, separated by commas. */
export function trustProxy() {
  return z.string().refine(isTrustProxy, {
    message: `must be true, false, a number of proxies up to ${MOST_PROXIES}, or a list of IP addresses, ranges such as 10.0.0.0/8, loopback, linklocal and uniquelocal`,
  });
}

function isTrustProxy(text: string): boolean {
  if (text === 'true' || text === 'false') return true;
  if (/^\d+$/.test(text)) return Number(text) <= MOST_PROXIES;
  return text.split(',').every((part) => isProxyRange(part.trim()));
}

function isProxyRange(part: string): boolean {
  if (NAMED_RANGES.has(part)) return true;
  const [address = '', range, ...more] = part.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (range === undefined) return true;
  if (/^\d{1,3}$/.test(range)) return Number(range) > 0 && Number(range) <= (version === 4 ? 32 : 128);
  const bits = version === 4 && isIP(range) === 4 ? ipaddr.parse(range).prefixLengthFromSubnetMask() : null;
  return bits !== null && bits > 0;
}

export function pemFile() {
  return z.string().refine(isPem, { message: 'must be the path of a readable PEM file' });
}

function isPem(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes('-----BEGIN ');
  } catch {
    return false;
  }
}

/** A sender: an address, or a name and an address in angle brackets. */
export function mailSender() {
  return z.string().regex(/^([^<>@\r\n]*<[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/, {
    message: 'must be an e-mail address, or Name <address>',
  });
}

export function headerText() {
  return z.string().regex(/^[!-~]([ -~]*[!-~])?$/, { message: 'must be a single line of ASCII text' });
}
