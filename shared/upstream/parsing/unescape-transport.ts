import type { Thing } from './thing-schema.ts';

const ESCAPED = /&(lt|gt|amp);/g;
const PLAIN: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

/** Unescapes the texts and URLs of a thing that were escaped in transport. */
export function unescapeThing(thing: Thing): Thing {
  if (thing.kind === 't3') {
    const { title, selftext, url } = thing.data;
    const texts = { title: unescapeTransport(title), selftext: unescapeTransport(selftext), url: optional(url) };
    return { kind: 't3', data: { ...thing.data, ...texts } };
  }
  const { body, link_title: title } = thing.data;
  return { kind: 't1', data: { ...thing.data, body: unescapeTransport(body), link_title: optional(title) } };
}

/**
 * Undoes the escaping that the forum applies to every text and URL without `raw_json=1`: `<`, `>` and `&` as entities,
 * once. Entities that an author typed stay as typed.
 */
function unescapeTransport(text: string): string {
  return text.includes('&') ? text.replace(ESCAPED, (entity) => PLAIN[entity] ?? entity) : text;
}

function optional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : unescapeTransport(text);
}
