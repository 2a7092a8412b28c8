import * as samples from '../../../../support/samples/upstream-samples.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { post } from '../../../../../schemas/messages/forum-post.ts';
import { commentItem, forumUser, subreddit } from '../../../../../schemas/api/reading.ts';
import { ForumSource } from '../../../../../services/api/reading/forum-source.ts';
import { UpstreamError } from '../../../../../shared/forum-client/upstream-error.ts';
import { createLogger } from '../../../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../../../shared/runtime/metrics.ts';
import { parseThread, parseThreadThings } from '../../../../../shared/forum-client/parse-comment-tree.ts';
import { parseListing } from '../../../../../shared/forum-client/parse-things.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';
import { damaged } from '../../../../support/samples/damaged-things.ts';

const { listingOf, nodeOf } = samples;
const posts = [samples.POST, samples.GALLERY, samples.POLL, samples.VIDEO, samples.CROSSPOST, samples.IMAGE];

const DEPS = {
  siteUrl: 'https://www.reddit.com',
  clock: () => 0,
  logger: silentLogger(),
  metrics: createMetrics(),
};

/** A source whose forum gives this answer to every call. */
function sourceOf(answer: unknown, logger = DEPS.logger): ForumSource {
  const upstream = {
    get: () => Promise.resolve(answer),
    post: () => Promise.resolve(answer),
    perSecond: () => 1,
    stop: () => Promise.resolve(),
  };
  return new ForumSource({ ...DEPS, logger, upstream });
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

/** The fields without which a thing cannot be read. */
const NEEDED: Record<string, RegExp> = {
  t3: /^(id|created_utc|title|subreddit|selftext)$/,
  t1: /^(id|created_utc|body|subreddit|parent_id)$/,
  t5: /^display_name$/,
  t2: /^name$/,
};

interface Listed {
  kind: string;
  things: object[];
  read: (source: ForumSource) => Promise<{ entries: { item: object }[]; malformed: number }>;
  schema: { parse: (item: unknown) => unknown };
}
const LISTED: Listed[] = [
  { kind: 't3', things: posts, read: (source) => source.posts('/', {}, 'x'), schema: post },
  { kind: 't1', things: [samples.COMMENT], read: (source) => source.comments('/', {}, 'x'), schema: commentItem },
  { kind: 't5', things: [samples.SUBREDDIT], read: (source) => source.subreddits('/', {}, 'x'), schema: subreddit },
  { kind: 't2', things: [samples.USER], read: (source) => source.users('/', {}, 'x'), schema: forumUser },
];

test.each(LISTED)('a damaged $kind is read without the damaged part, or left out and counted', async (listed) => {
  const { kind, things, read, schema } = listed;
  for (const thing of things) {
    const [neighbour] = (await read(sourceOf(listingOf(nodeOf(kind, thing))))).entries;
    for (const { path, copy } of damaged(thing)) {
      const page = await read(sourceOf(listingOf(nodeOf(kind, copy), nodeOf(kind, thing))));
      expect(page.entries.at(-1), path).toEqual(neighbour);
      expect([page.entries.length, page.malformed], path).toEqual(page.malformed === 0 ? [2, 0] : [1, 1]);
      expect(page.malformed === 0 || NEEDED[kind]!.test(path), path).toBe(true);
      schema.parse(page.entries[0]!.item);
    }
    for (const child of [undefined, null, false, 7, 'x', {}, []]) {
      expect(await read(sourceOf(listingOf(child, nodeOf(kind, thing))))).toMatchObject({ malformed: 1 });
    }
  }
});

test('the log of a malformed item says where and why, and does not hold the item', async () => {
  let log = '';
  const logger = createLogger('info', { write: (line: string) => void (log += line) });
  const answer = listingOf(nodeOf('t3', { ...samples.POST, created_utc: 'never', selftext: 'x'.repeat(1e5) }));
  expect(await sourceOf(answer, logger).posts('/', {}, 'x')).toMatchObject({ malformed: 1 });
  expect(log).toContain('data.children.0.data.created_utc');
  expect(log.length).toBeLessThan(1_000);
});

test('a damaged account or community is shown as far as it can be read', async () => {
  for (const { path, copy } of damaged(samples.USER)) {
    if (path !== 'name') forumUser.parse(await sourceOf(nodeOf('t2', copy)).user('smith'));
  }
  for (const { path, copy } of damaged(samples.SUBREDDIT)) {
    if (path !== 'display_name')
      subreddit.parse(await sourceOf({ ...nodeOf('t5', copy), rules: [] }).subreddit('metals'));
  }
  for (const { copy } of damaged(samples.RULES)) {
    subreddit.parse(await sourceOf({ ...nodeOf('t5', samples.SUBREDDIT), ...copy }).subreddit('metals'));
  }
});

test('a community whose rules the forum does not know is one without rules', async () => {
  const get = (path: string) =>
    path.endsWith('/rules')
      ? Promise.reject(new UpstreamError('not_found', 'not found on the forum', { status: 404 }))
      : Promise.resolve(nodeOf('t5', samples.SUBREDDIT));
  const source = new ForumSource({ ...DEPS, upstream: { get, post: get } });
  expect(await source.subreddit('metals')).toMatchObject({ name: 'metals', rules: [] });
});

const STUB = { count: 2, children: ['c1', 'c2'], id: 'c1', name: 't1_c1', parent_id: 't3_1abcde', depth: 0 };

test('a damaged comment or stub of a thread hides neither its neighbours nor the replies below it', () => {
  const { replies: _replies, ...plain } = samples.COMMENT;
  const reply = { ...plain, id: 'reply', parent_id: 't1_k1abcde' };
  const below = { ...samples.COMMENT, replies: listingOf(nodeOf('t1', reply)) };
  const thread = (...children: unknown[]) => [listingOf(nodeOf('t3', samples.POST)), listingOf(...children)];
  for (const [kind, thing] of [
    ['t1', below],
    ['more', STUB],
  ] as const) {
    for (const { path, copy } of damaged(thing)) {
      if (path.startsWith('replies')) continue;
      const answer = thread(nodeOf(kind, copy), nodeOf('t1', { ...plain, id: 'next' }));
      const [read, crawled] = [parseThread(answer), parseThreadThings(answer)];
      const ids = [read.comments.map(({ id }) => id), crawled.comments.map(({ id }) => id)];
      for (const found of ids) expect(found, path).toContain('next');
      if (kind === 't1') for (const found of ids) expect(found, path).toContain('reply');
      const { length } = read.comments;
      expect(read.faults.length + read.stubs.length + length, path).toBe(kind === 't1' ? 3 : 2);
    }
  }
});

test('the crawler reads a damaged post or comment, or keeps it as unreadable', () => {
  for (const [kind, things] of [
    ['t3', posts],
    ['t1', [samples.COMMENT]],
  ] as const) {
    for (const thing of things) {
      for (const { path, copy } of damaged(thing)) {
        const { things: read, faults } = parseListing(listingOf(nodeOf(kind, copy), nodeOf(kind, thing)));
        expect([read.length, faults.length], path).toEqual(faults.length === 0 ? [2, 0] : [1, 1]);
        expect(faults.length === 0 || NEEDED[kind]!.test(path), path).toBe(true);
      }
    }
  }
});

test.each([
  ['/r/rust/comments/abc/', 'https://www.reddit.com/r/rust/comments/abc/'],
  ['https://www.reddit.com/r/rust/comments/abc/', 'https://www.reddit.com/r/rust/comments/abc/'],
  ['http://[', undefined],
  [undefined, undefined],
])('a share link that redirects to %s leads to %s, or is a failure of the forum', async (location, target) => {
  const moved = new UpstreamError('moved', 'the forum answered 302', { status: 302, location });
  const fail = () => Promise.reject(moved);
  const source = new ForumSource({ ...DEPS, upstream: { get: fail, post: fail } });
  const asked = source.redirectTarget('/r/rust/s/code');
  await (target === undefined ? expect(asked).rejects.toBe(moved) : expect(asked).resolves.toBe(target));
});
