import { createHash } from 'node:crypto';
import type { JsonFeed } from '../../../schemas/api/matches.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import type { FeedMatch, FoundFeed } from '../../../shared/matches/feed-tokens.ts';

type FeedItem = JsonFeed['items'][number];

/** A feed as JSON Feed 1.1. @param found newest first @param url its own address */
export function jsonFeed(
  { monitorId, name }: Pick<FoundFeed, 'monitorId' | 'name'>,
  found: readonly FeedMatch[],
  url: string,
): JsonFeed {
  return {
    version: 'https://jsonfeed.org/version/1.1',
    title: name,
    description: 'The newest matches of this monitor.',
    feed_url: url,
    items: found.map((match) => itemOf(monitorId, match)),
  };
}

function itemOf(monitorId: string, match: FeedMatch): FeedItem {
  const { kind, subreddit, matchedTerms, author, createdAt, removedAt, body } = match;
  return {
    id: matchId(monitorId, match.seq),
    url: match.permalink,
    title: match.title === '' ? `A ${kind} in r/${subreddit}` : match.title,
    summary: `A ${kind} in r/${subreddit}, matched by ${matchedTerms.join(', ')}`,
    content_text: removedAt !== null ? '[removed]' : match.isCut ? `${body} …` : body,
    date_published: match.createdUtc.toISOString(),
    date_modified: latest([createdAt, removedAt ?? createdAt]).toISOString(),
    authors: author === '' || author === '[deleted]' ? [] : [{ name: author }],
    tags: matchedTerms,
  };
}

export function lastChange({ items }: JsonFeed, changedAt: Date): Date {
  return latest([changedAt, ...items.map((item) => new Date(item.date_modified))]);
}

function latest(times: readonly Date[]): Date {
  return new Date(Math.max(...times.map((time) => time.getTime())));
}

/** Characters that XML 1.0 cannot hold, not even escaped. */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** The same in Atom (RFC 4287). Every text is escaped, and characters that XML cannot hold are left out. */
export function atomFeed(feed: JsonFeed, monitorId: string, updatedAt: Date): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${idOf(monitorId)}</id>
  <title>${xml(feed.title)}</title>
  <subtitle>${xml(feed.description)}</subtitle>
  <updated>${updatedAt.toISOString()}</updated>
  <link rel="self" type="application/atom+xml" href="${xml(feed.feed_url)}"/>
${feed.items.map(entryOf).join('')}</feed>
`;
}

function entryOf(item: FeedItem): string {
  return `  <entry>
    <id>${idOf(item.id)}</id>
    <title>${xml(item.title)}</title>
    <link rel="alternate" href="${xml(item.url)}"/>
    <author><name>${xml(item.authors[0]?.name ?? '[deleted]')}</name></author>
    <published>${item.date_published}</published>
    <updated>${item.date_modified}</updated>
${item.tags.map((term) => `    <category term="${xml(term)}"/>\n`).join('')}    <summary>${xml(item.summary)}</summary>
    <content type="text">${xml(item.content_text)}</content>
  </entry>
`;
}

function xml(text: string): string {
  return text.replace(NOT_XML, '').replace(/[&<>"]/g, (character) => ESCAPES[character]!);
}

/** An IRI that survives a move of the service: a UUID of version 8 (RFC 9562) that is derived from our id. */
function idOf(ownId: string): string {
  const bytes = createHash('sha256').update(ownId).digest().subarray(0, 16);
  bytes[6] = 0x80 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `urn:uuid:${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')}`;
}
