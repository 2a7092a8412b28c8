import { describe, expect, test } from 'vitest';
import { createMonitorBody, patchMonitorBody } from '../../../../schemas/api/monitors.ts';

const BODY = { name: 'my metals', keywords: ['rust'] };

describe('createMonitorBody', () => {
  test('has defaults for everything but the name and the keywords', () => {
    expect(createMonitorBody.parse(BODY)).toEqual({
      ...BODY,
      exclude: [],
      subreddits: [],
      posts: true,
      comments: true,
      nsfw: false,
    });
  });

  test('trims the name', () => {
    expect(createMonitorBody.parse({ ...BODY, name: ' \tmetals ' }).name).toBe('metals');
  });

  test.each([
    ['a control character in the name', { name: 'a\u0007b' }],
    ['half of a surrogate pair in a keyword', { keywords: ['\ud83e'] }],
  ])('refuses %s', (_, fields) => {
    expect(createMonitorBody.safeParse({ ...BODY, ...fields }).success).toBe(false);
  });
});

const KINDS: [object, object][] = [
  [{ include_posts: false }, { posts: false, comments: true }],
  [{ include_comments: false }, { posts: true, comments: false }],
  [
    { posts: false, include_posts: false },
    { posts: false, comments: true },
  ],
];

describe.each([
  ['createMonitorBody', (body: object) => createMonitorBody.safeParse({ ...BODY, ...body })],
  ['patchMonitorBody', (body: object) => patchMonitorBody.safeParse(body)],
] as const)('%s', (_, parse) => {
  test.each(KINDS)('accepts the names that answers have: %j', (body, kinds) => {
    const given = Object.fromEntries(Object.entries(kinds).filter(([, isWatched]) => isWatched === false));
    const parsed = parse(body);
    expect(parsed.data).toMatchObject(given);
    expect(parsed.data).not.toHaveProperty('include_posts');
    expect(parsed.data).not.toHaveProperty('include_comments');
  });

  test.each(['posts', 'comments'])('refuses two names of %s that differ', (kind) => {
    for (const isWatched of [true, false]) {
      const { error } = parse({ [kind]: isWatched, [`include_${kind}`]: !isWatched });
      expect(error?.issues).toMatchObject([
        { path: [`include_${kind}`], message: `must equal ${kind}, which means the same; send only one of them` },
      ]);
    }
  });

  test('refuses null for either name', () => {
    expect(parse({ include_posts: null }).success).toBe(false);
    expect(parse({ posts: null }).success).toBe(false);
  });
});

describe('patchMonitorBody', () => {
  test('leaves absent fields absent', () => {
    expect(patchMonitorBody.parse({})).toEqual({});
    expect(patchMonitorBody.parse({ nsfw: true })).toEqual({ nsfw: true });
  });
});
