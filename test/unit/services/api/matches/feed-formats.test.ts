import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atomFeed, jsonFeed } from '../../../../../services/api/matches/feed-formats.ts';

const AT = new Date('2026-03-04T10:00:00.000Z');
/** Characters that are special to XML or that it cannot hold, and any others but NUL, which is never stored. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('&', '<', '>', '"', "'", ']]>', '<![CDATA[', '&amp;', '&#0;', '<!--', '<?x', '</title>'),
      fc.constantFrom('\u0001', '\u000B', '\u007F', '\uFFFE', '\u0085', '\u2028', '\t', '\n'),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => pieces.join('').replaceAll('\0', ''));
const match = fc.record({
  seq: fc.integer({ min: 1, max: 1_000 }),
  kind: fc.constantFrom('post' as const, 'comment' as const),
  matchedTerms: fc.array(text, { maxLength: 3 }),
  createdAt: fc.constant(AT),
  subreddit: text,
  author: text,
  title: text,
  body: text,
  isCut: fc.boolean(),
  permalink: text,
  createdUtc: fc.constant(AT),
  removedAt: fc.constantFrom(null, AT),
});

/** What XML 1.0 can hold of a text. */
const kept = (given: string) =>
  Array.from(given)
    .filter((character) => /[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(character))
    .join('');
/** Text between marks: an ampersand begins one of the four entities. */
const CONTENT = '(?:[^<>&"]|&(?:amp|lt|gt|quot);)*';
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"' } as const;
const read = (written: string) => written.replace(/&(\w+);/g, (_, name: keyof typeof ENTITIES) => ENTITIES[name]);

test('a parser of XML reads every text as it is, whatever it holds', () => {
  fc.assert(
    fc.property(text, fc.array(match, { maxLength: 4 }), (name, matches) => {
      const url = 'https://api.example.com/feeds/feed_x.atom?a=1&b="2"';
      const monitorId = 'mon_000000000000';
      const { items, ...rest } = jsonFeed({ monitorId, name }, matches, url);
      const feed = atomFeed({ items, ...rest }, monitorId, AT);
      // Nothing but elements whose texts and attributes are content.
      const element = `\\s*</?[a-z]+(?: [a-z]+="${CONTENT}")*/?>${CONTENT}`;
      expect(feed).toMatch(new RegExp(`^<\\?xml version="1\\.0" encoding="utf-8"\\?>(?:${element})+$`));
      expect(kept(feed)).toBe(feed);
      const all = (pattern: string) => [...feed.matchAll(new RegExp(pattern, 'g'))].map(([, found]) => read(found!));
      expect(all(`<title>(${CONTENT})</title>`)).toEqual([name, ...items.map(({ title }) => title)].map(kept));
      expect(all(`href="(${CONTENT})"`)).toEqual([url, ...items.map((item) => kept(item.url))]);
      expect(all(`<name>(${CONTENT})</name>`)).toEqual(
        items.map(({ authors }) => kept(authors[0]?.name ?? '[deleted]')),
      );
      expect(all(`term="(${CONTENT})"`)).toEqual(items.flatMap(({ tags }) => tags.map(kept)));
      expect(all(`<content type="text">(${CONTENT})</content>`)).toEqual(items.map((item) => kept(item.content_text)));
    }),
  );
});
