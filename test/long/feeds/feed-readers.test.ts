import type { Browser } from 'playwright-core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atomFeed } from '../../../services/api/feeds/atom-feed.ts';
import { feedContent } from '../../../services/api/feeds/feed-content.ts';
import { startBrowser } from '../../support/dashboard/browser.ts';
import { BROWSER_MISSING } from '../../support/dashboard/chromium.ts';

/** What an XML parser reads from a feed. */
interface ReadFeed {
  error: string | null;
  title: string;
  self: string;
  entries: { title: string; link: string; author: string; terms: string[]; content: string; parts: string[] }[];
}

const AT = new Date('2026-03-04T10:00:00.000Z');
/** Characters that are special to XML or that it cannot hold, and any others but NUL, which is never stored. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('&', '<', '>', '"', "'", ']]>', '<![CDATA[', '&amp;', '&#0;', '<!--', '-->', '<?x', '</title>'),
      fc.constantFrom(
        '\u0001',
        '\u0008',
        '\u000B',
        '\u001F',
        '\u007F',
        '\uFFFE',
        '\uFFFF',
        '\u0085',
        '\u2028',
        '\t',
        '\n',
      ),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
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

/** What XML leaves of a text: control characters are dropped, and line ends become LF. */
const kept = (given: string) =>
  Array.from(given)
    .filter((character) => /[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(character))
    .join('')
    .replace(/\r\n?/g, '\n');
/** In attributes, white space becomes spaces. */
const keptInAttribute = (given: string) => kept(given).replace(/[\t\n]/g, ' ');

describe.skipIf(BROWSER_MISSING !== undefined)('a parser of XML', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test('reads every text as it is, whatever it holds', async () => {
    const page = await browser.newPage();
    const parse = (source: string) =>
      page.evaluate<ReadFeed>(`((source) => {${READ_FEED}})(${JSON.stringify(source)})`);
    await fc.assert(
      fc.asyncProperty(text, fc.array(match, { maxLength: 4 }), async (name, matches) => {
        const content = feedContent({ accountId: 'acc', monitorId: 'mon_000000000000', name, changedAt: AT }, matches);
        const url = 'https://api.example.com/feeds/feed_x.atom?a=1&b="2"';
        expect(await parse(atomFeed(content, url))).toEqual({
          error: null,
          title: kept(name),
          self: url,
          entries: content.entries.map((entry) => ({
            title: kept(entry.title),
            link: keptInAttribute(entry.url),
            author: kept(entry.author ?? '[deleted]'),
            terms: entry.terms.map(keptInAttribute),
            content: kept(entry.text),
            // What RFC 4287 requires of an entry and what we add, each in its namespace.
            parts: [
              ...['id', 'title', 'link', 'author', 'published', 'updated'],
              ...entry.terms.map(() => 'category'),
              ...['summary', 'content'],
            ],
          })),
        });
      }),
      { numRuns: 300 },
    );
    await page.close();
  });
});

/** Runs in the browser, with the text of a feed as `source`. */
const READ_FEED = `
  const document = new DOMParser().parseFromString(source, 'application/xml');
  const atom = 'http://www.w3.org/2005/Atom';
  const all = (parent, name) => [...parent.getElementsByTagNameNS(atom, name)];
  const textOf = (parent, name) => all(parent, name)[0]?.textContent ?? 'absent';
  const valueOf = (parent, name, attribute) => all(parent, name)[0]?.getAttribute(attribute) ?? 'absent';
  return {
    error: document.querySelector('parsererror')?.textContent ?? null,
    title: textOf(document, 'title'),
    self: valueOf(document, 'link', 'href'),
    entries: all(document, 'entry').map((entry) => ({
      title: textOf(entry, 'title'),
      link: valueOf(entry, 'link', 'href'),
      author: textOf(entry, 'name'),
      terms: all(entry, 'category').map((one) => one.getAttribute('term')),
      content: textOf(entry, 'content'),
      parts: [...entry.children].map((one) => one.localName),
    })),
  };`;
