import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { post } from '../../../../../schemas/messages/forum-post.ts';
import { commentItem, forumUser, subreddit } from '../../../../../schemas/api/forum-resources.ts';
import { ForumSource } from '../../../../../services/api/reading/forum-source.ts';
import { UpstreamError } from '../../../../../shared/upstream/upstream-error.ts';
import * as samples from '../../../../support/samples/upstream-samples.ts';

const { listingOf, nodeOf } = samples;
const posts = [samples.POST, samples.GALLERY, samples.POLL, samples.VIDEO, samples.CROSSPOST, samples.IMAGE];

/** A source whose forum gives this answer to every call. */
function sourceOf(answer: unknown): ForumSource {
  const upstream = {
    get: () => Promise.resolve(answer),
    post: () => Promise.resolve(answer),
    perSecond: () => 1,
    stop: () => Promise.resolve(),
  };
  return new ForumSource({ upstream, siteUrl: 'https://www.reddit.com', clock: () => 0 });
}

const QUESTIONS: { name: string; answer: unknown; ask: (source: ForumSource) => Promise<void> }[] = [
  {
    name: 'posts',
    answer: listingOf(...posts.map((data) => nodeOf('t3', data))),
    ask: async (source) => {
      for (const { item } of (await source.posts('/', {}, 'x')).entries) post.parse(item);
    },
  },
  {
    name: 'duplicates',
    answer: [listingOf(nodeOf('t3', samples.POST)), listingOf(nodeOf('t3', samples.CROSSPOST))],
    ask: async (source) => {
      for (const { item } of (await source.duplicates('abc', {})).entries) post.parse(item);
    },
  },
  {
    name: 'comments',
    answer: listingOf(nodeOf('t1', samples.COMMENT)),
    ask: async (source) => {
      for (const { item } of (await source.comments('/', {}, 'x')).entries) commentItem.parse(item);
    },
  },
  {
    name: 'things',
    answer: listingOf(nodeOf('t1', samples.COMMENT), nodeOf('t3', samples.POST)),
    ask: async (source) => {
      const found = await source.things(['t1_k1abcde', 't3_1abcde']);
      for (const one of found.comments.values()) commentItem.parse(one);
      for (const one of found.posts.values()) post.parse(one);
    },
  },
  {
    name: 'communities',
    answer: listingOf(nodeOf('t5', samples.SUBREDDIT)),
    ask: async (source) => {
      for (const { item } of (await source.subreddits('/', {}, 'x')).entries) subreddit.parse(item);
    },
  },
  {
    name: 'a community',
    answer: { ...nodeOf('t5', samples.SUBREDDIT), ...samples.RULES },
    ask: async (source) => {
      subreddit.parse(await source.subreddit('metals'));
    },
  },
  {
    name: 'a user',
    answer: nodeOf('t2', samples.USER),
    ask: async (source) => {
      forumUser.parse(await source.user('smith'));
    },
  },
];

/** The number of values in a value, including itself. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return (Object.values(value) as unknown[]).reduce((sum: number, entry) => sum + sizeOf(entry), 1);
}

/** The value with the part at `index` replaced. */
function replaced(value: unknown, at: number, by: unknown): unknown {
  if (at === 0) return by;
  if (typeof value !== 'object' || value === null) return value;
  let left = at - 1;
  const entries = Object.entries(value as Record<string, unknown>).map(([name, entry]): [string, unknown] => {
    const size = sizeOf(entry);
    const isHere = left >= 0 && left < size;
    const next = isHere ? replaced(entry, left, by) : entry;
    left -= size;
    return [name, next];
  });
  return Array.isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries);
}

const anything = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    0,
    -1,
    1e20,
    -1e20,
    253_402_300_800,
    NaN,
    true,
    false,
    [],
    {},
    '[deleted]',
    '\ud800',
    'x'.repeat(1e5),
  ),
  fc.anything({ maxDepth: 2 }),
);

describe.each(QUESTIONS)('$name', ({ answer, ask }) => {
  test('reads the sample', () => ask(sourceOf(answer)));

  test('returns a valid resource or throws an UpstreamError when any part is replaced', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(sizeOf(answer) - 1), anything, async (at, by) => {
        try {
          await ask(sourceOf(replaced(answer, at, by)));
        } catch (error) {
          expect(error).toBeInstanceOf(UpstreamError);
        }
      }),
      { numRuns: 700 },
    );
  });
});

test.each([
  ['/r/rust/comments/abc/', 'https://www.reddit.com/r/rust/comments/abc/'],
  ['https://www.reddit.com/r/rust/comments/abc/', 'https://www.reddit.com/r/rust/comments/abc/'],
  ['http://[', undefined],
  [undefined, undefined],
])('a share link that redirects to %s leads to %s, or is a failure of the forum', async (location, target) => {
  const moved = new UpstreamError('moved', 'the forum answered 302', { status: 302, location });
  const fail = () => Promise.reject(moved);
  const source = new ForumSource({
    upstream: { get: fail, post: fail },
    siteUrl: 'https://www.reddit.com',
    clock: () => 0,
  });
  const asked = source.redirectTarget('/r/rust/s/code');
  await (target === undefined ? expect(asked).rejects.toBe(moved) : expect(asked).resolves.toBe(target));
});
