import type { MuteKind } from '../../schemas/api/monitors.ts';
import { normalizeAuthor, normalizeSubreddit } from '../matching/validate-rule.ts';

export interface ItemReference {
  kind: 'post' | 'comment';
  /** undefined for a comment that was given without its post. */
  postId: string | undefined;
  commentId: string | undefined;
}

/** A share link. Only the forum knows which post it leads to. */
export interface ShareLink {
  kind: 'share';
  /** Path on the forum's API host, without a query. */
  path: string;
}

/** The domain of the site (`reddit.com` for `https://www.reddit.com`), and the hosts of its short links. */
export interface ForumHosts {
  domain: string;
  shortLinkHosts: readonly string[];
}

const BARE_ID = /^[0-9a-z]{1,13}$/i;
const FULLNAME = /^t([13])_([0-9a-z]{1,13})$/i;
const NAME = /^[\w-]{1,32}$/;
/** Suffixes of addresses that give the same page as data. */
const DATA_SUFFIX = /\.(json|rss|xml|compact)\/?$/i;
/** Some programs leave the slug of a comment's address empty. */
const EMPTY_SLUG = /(\/comments\/[^/]+)\/\/(?=[^/])/;
const MAX_LENGTH = 2_048;

/** Returns the hosts of a public site. Its subdomains (www, old, new, np, sh, m, amp, i …) are the same site. */
export function forumHosts(siteUrl: string): ForumHosts {
  return { domain: new URL(siteUrl).hostname.replace(/^www\./, ''), shortLinkHosts: ['redd.it', 'www.redd.it'] };
}

/**
 * Parses what people paste to name a post or comment: a fullname, a bare id of a post, or any URL of the site that
 * leads to one, with or without its scheme, `.json`, query and fragment. Returns undefined for anything else.
 */
export function parseReference(given: string, hosts: ForumHosts): ItemReference | ShareLink | undefined {
  const text = given.trim();
  if (text.length > MAX_LENGTH) return undefined;
  const named = FULLNAME.exec(text);
  if (named?.[1] === '1') return { kind: 'comment', postId: undefined, commentId: named[2]!.toLowerCase() };
  if (named) return post(named[2]!);
  if (BARE_ID.test(text)) return post(text);
  const url = urlOf(text);
  if (url === undefined) return undefined;
  const path = url.pathname.replace(DATA_SUFFIX, '').replace(EMPTY_SLUG, '$1/_/');
  const parts = path.split('/').filter((part) => part !== '');
  if (hosts.shortLinkHosts.includes(url.hostname)) return parts.length === 1 ? ofId(parts[0]) : undefined;
  return isOf(hosts.domain, url) ? ofPath(parts) : undefined;
}

/**
 * The name in the address of a community (`/r/NAME`) or of an account (`/user/NAME`, `/u/NAME`) on the site, as
 * written. undefined for any other text, and for addresses of what is in a community or by an account.
 */
function nameInAddress(given: string, kind: 'subreddit' | 'author', { domain }: ForumHosts): string | undefined {
  const text = given.trim();
  const url = text.length > MAX_LENGTH ? undefined : urlOf(text);
  if (url === undefined || !isOf(domain, url)) return undefined;
  const [first = '', name, ...rest] = url.pathname.split('/').filter((part) => part !== '');
  const prefixes = kind === 'subreddit' ? ['r'] : ['u', 'user'];
  return prefixes.includes(first) && rest.length === 0 ? name : undefined;
}

function isOf(domain: string, { hostname }: URL): boolean {
  return hostname === domain || hostname.endsWith(`.${domain}`);
}

function urlOf(text: string): URL | undefined {
  const whole = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (/\s/.test(whole) || !URL.canParse(whole)) return undefined;
  const url = new URL(whole);
  return url.username === '' && url.password === '' ? url : undefined;
}

/** /comments/ID[/slug[/CID]], also below /r/X and /user/X; /gallery/ID; /tb/ID; /r/X/s/CODE. */
function ofPath(parts: readonly string[]): ItemReference | ShareLink | undefined {
  const [first = '', second = '', third = '', fourth = ''] = parts;
  const isWithin = ['r', 'u', 'user'].includes(first);
  if (isWithin && NAME.test(second) && third === 's' && /^[0-9A-Za-z]{1,64}$/.test(fourth) && parts.length === 4) {
    return { kind: 'share', path: `/${parts.join('/')}` };
  }
  if (isWithin && third === 'comments') return ofComments(parts.slice(3));
  if (first === 'comments') return ofComments(parts.slice(1));
  if ((first === 'gallery' || first === 'tb') && parts.length === 2) return ofId(second);
  if (isWithin && third === 'gallery' && parts.length === 4) return ofId(fourth);
  return undefined;
}

function ofComments([postId = '', , commentId]: readonly string[]): ItemReference | undefined {
  const reference = ofId(postId);
  if (reference === undefined || commentId === undefined) return reference;
  if (!BARE_ID.test(commentId)) return undefined;
  return { ...reference, kind: 'comment', commentId: commentId.toLowerCase() };
}

function ofId(id: string | undefined): ItemReference | undefined {
  return id !== undefined && BARE_ID.test(id) ? post(id) : undefined;
}

function post(id: string): ItemReference {
  return { kind: 'post', postId: id.toLowerCase(), commentId: undefined };
}

/**
 * What a mute names, in the form in which it is stored and compared: the name of a community or account in lower case,
 * or the id of a post with t3_. undefined when the text does not name one. A share link does not: only the forum knows
 * its post.
 */
export function muteValue(kind: MuteKind, given: string, hosts: ForumHosts): string | undefined {
  if (kind !== 'thread') return nameKey(kind, given) ?? nameKey(kind, nameInAddress(given, kind, hosts) ?? '');
  const reference = parseReference(given, hosts);
  if (reference === undefined || reference.kind === 'share' || reference.postId === undefined) return undefined;
  // An id is a number in base 36, which the forum writes without leading zeros.
  return `t3_${reference.postId.replace(/^0+(?=.)/, '')}`;
}

function nameKey(kind: 'subreddit' | 'author', given: string): string | undefined {
  const name = kind === 'subreddit' ? normalizeSubreddit(given) : normalizeAuthor(given);
  return name?.toLowerCase();
}
