import { createHash } from 'node:crypto';
import type { FeedContent, FeedEntry } from './feed-content.ts';

/** Characters that XML 1.0 cannot hold, not even escaped. */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * A feed in Atom (RFC 4287). Every text is escaped, and characters that XML cannot hold are left out.
 *
 * @param url its own address
 */
export function atomFeed({ monitorId, title, description, updatedAt, entries }: FeedContent, url: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${idOf(monitorId)}</id>
  <title>${xml(title)}</title>
  <subtitle>${xml(description)}</subtitle>
  <updated>${updatedAt.toISOString()}</updated>
  <link rel="self" type="application/atom+xml" href="${xml(url)}"/>
${entries.map(entryOf).join('')}</feed>
`;
}

function entryOf({ id, url, title, summary, text, author, publishedAt, updatedAt, terms }: FeedEntry): string {
  return `  <entry>
    <id>${idOf(id)}</id>
    <title>${xml(title)}</title>
    <link rel="alternate" href="${xml(url)}"/>
    <author><name>${xml(author ?? '[deleted]')}</name></author>
    <published>${publishedAt.toISOString()}</published>
    <updated>${updatedAt.toISOString()}</updated>
${terms.map((term) => `    <category term="${xml(term)}"/>\n`).join('')}    <summary>${xml(summary)}</summary>
    <content type="text">${xml(text)}</content>
  </entry>
`;
}

/** Text for elements and quoted attributes. */
function xml(text: string): string {
  return text.replace(NOT_XML, '').replace(/[&<>"]/g, (character) => ESCAPES[character]!);
}

/**
 * An IRI that stays when the service moves to another address, since readers take an entry with a new id for a new one:
 * a UUID of version 8 (RFC 9562) that is derived from our id.
 */
function idOf(ownId: string): string {
  const bytes = createHash('sha256').update(ownId).digest().subarray(0, 16);
  bytes[6] = 0x80 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `urn:uuid:${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')}`;
}
