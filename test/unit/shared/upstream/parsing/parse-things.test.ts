import { describe, expect, test } from 'vitest';
import { forumItem } from '../../../../../schemas/messages/forum-item.ts';
import { parseListing, parseThing } from '../../../../../shared/upstream/parsing/parse-things.ts';
import type { Thing } from '../../../../../shared/upstream/parsing/thing-schema.ts';
import type { PostOfComment } from '../../../../../shared/upstream/parsing/thing-to-forum-item.ts';
import { thingToForumItem } from '../../../../../shared/upstream/parsing/thing-to-forum-item.ts';
import { unescapeThing } from '../../../../../shared/upstream/parsing/unescape-transport.ts';
import { UpstreamError } from '../../../../../shared/upstream/upstream-error.ts';

const POST = {
  id: '1q2w3e',
  name: 't3_1q2w3e',
  author: 'kettle_fan',
  subreddit: 'tea',
  created_utc: 1767225600.0,
  title: 'Which kettle',
  selftext: 'Any < 2 litres?',
  over_18: true,
  permalink: '/r/tea/comments/1q2w3e/which_kettle/',
  url: 'https://forum.example/r/tea/comments/1q2w3e/which_kettle/',
  is_self: true,
  score: 12,
  num_comments: 3,
  media_metadata: null,
};
const COMMENT = {
  id: 'zzzzzzzzzzzz9',
  author: 'leaf',
  subreddit: 'tea',
  created_utc: 1767225660.0,
  body: 'The small one.',
  parent_id: 't1_abc',
  link_id: 't3_1q2w3e',
  link_title: 'Which kettle',
  over_18: false,
  permalink: '/r/tea/comments/1q2w3e/which_kettle/zzzzzzzzzzzz9/',
  score: 1,
  edited: 1767225700.0,
  replies: '',
};
const ORIGIN = { source: 'listings', replay: false, firstSeenAt: 1767225601234, siteUrl: 'https://forum.example' };

function thingOf(kind: string, data: object): Thing {
  const parsed = parseThing({ kind, data }, '');
  if (parsed.outcome !== 'thing') throw new Error(JSON.stringify(parsed));
  return parsed.thing;
}
function item(kind: string, data: object, post?: PostOfComment) {
  return forumItem.parse(thingToForumItem(thingOf(kind, data), ORIGIN, post));
}

describe('a post', () => {
  test('becomes an item', () => {
    expect(item('t3', POST)).toEqual({
      v: 1,
      thing_id: 't3_1q2w3e',
      kind: 'post',
      post_id: '1q2w3e',
      parent_id: null,
      subreddit: 'tea',
      author: 'kettle_fan',
      title: 'Which kettle',
      body: 'Any < 2 litres?',
      permalink: 'https://forum.example/r/tea/comments/1q2w3e/which_kettle/',
      url: 'https://forum.example/r/tea/comments/1q2w3e/which_kettle/',
      nsfw: true,
      created_utc: '2026-01-01T00:00:00.000Z',
      first_seen_at: '2026-01-01T00:00:01.234Z',
      source: 'listings',
      replay: false,
      score: 12,
      num_comments: 3,
    });
  });

  test.each([null, undefined])('whose selftext is %j has an empty text', (selftext) => {
    expect(item('t3', { ...POST, selftext }).body).toBe('');
  });

  test('keeps where a link points, and completes a link within the site', () => {
    expect(item('t3', { ...POST, is_self: false, url: 'https://example.org/a' }).url).toBe('https://example.org/a');
    expect(item('t3', { ...POST, is_self: false, url: '/r/pots/comments/9/x/' }).url).toBe(
      'https://forum.example/r/pots/comments/9/x/',
    );
  });

  test('of an advertisement has no community; any other without one has a changed shape', () => {
    const { subreddit: _, ...homeless } = POST;
    expect(item('t3', { ...homeless, promoted: true }).subreddit).toBe('');
    expect(parseThing({ kind: 't3', data: homeless }, 'x')).toMatchObject({ fault: { path: 'x.data.subreddit' } });
  });
});

describe('a comment', () => {
  test('becomes an item; its id is an opaque string of 13 characters', () => {
    expect(item('t1', COMMENT)).toMatchObject({
      thing_id: 't1_zzzzzzzzzzzz9',
      kind: 'comment',
      post_id: '1q2w3e',
      parent_id: 't1_abc',
      title: 'Which kettle',
      body: 'The small one.',
      permalink: 'https://forum.example/r/tea/comments/1q2w3e/which_kettle/zzzzzzzzzzzz9/',
      url: null,
      num_comments: null,
      nsfw: false,
    });
  });

  test('of a thread view takes title and NSFW flag from its post, and a permalink is made', () => {
    const { link_title: _, over_18: __, permalink: ___, ...bare } = COMMENT;
    expect(item('t1', bare, { title: 'From the post', nsfw: false })).toMatchObject({
      title: 'From the post',
      nsfw: false,
      permalink: 'https://forum.example/r/tea/comments/1q2w3e/_/zzzzzzzzzzzz9/',
    });
    expect(item('t1', bare)).toMatchObject({ title: '', nsfw: true });
  });

  test.each([null, ''])('whose link_title is %j takes its title from its post', (link_title) => {
    expect(item('t1', { ...COMMENT, link_title }, { title: 'Which kettle', nsfw: true }).title).toBe('Which kettle');
  });

  test('without link_id finds its post in its context, its permalink or its parent', () => {
    const { link_id: _, permalink: __, ...loose } = COMMENT;
    const context = '/r/tea/comments/777/x/zzzzzzzzzzzz9/?context=3';
    expect(item('t1', { ...loose, context }).post_id).toBe('777');
    expect(item('t1', { ...loose, parent_id: 't3_888' }).post_id).toBe('888');
    expect(parseThing({ kind: 't1', data: loose }, '')).toMatchObject({ fault: { path: 'data.link_id' } });
  });

  test('of a deleted account is by [deleted]', () => {
    expect(item('t1', { ...COMMENT, author: null }).author).toBe('[deleted]');
    expect(item('t1', { ...COMMENT, author: '[deleted]', body: '[deleted]' }).author).toBe('[deleted]');
  });
});

describe('text escaped in transport', () => {
  test('is unescaped exactly once', () => {
    const post = {
      ...POST,
      title: 'a &amp;lt; b',
      selftext: '&gt; x &amp; y &quot;',
      url: 'https://e.org/?a=1&amp;b=2',
    };
    expect(unescapeThing(thingOf('t3', post)).data).toMatchObject({
      title: 'a &lt; b',
      selftext: '> x & y &quot;',
      url: 'https://e.org/?a=1&b=2',
    });
    const comment = unescapeThing(thingOf('t1', { ...COMMENT, body: '1 &lt; 2', link_title: 'Q &amp; A' }));
    expect(comment.data).toMatchObject({ body: '1 < 2', link_title: 'Q & A' });
  });
});

describe('a listing', () => {
  const listing = (children: unknown[], after: string | null = null) => ({
    kind: 'Listing',
    data: { after, before: null, dist: null, children, geo_filter: '' },
  });

  test('gives its things in order, tolerates what is new, and counts unknown kinds', () => {
    const parsed = parseListing(
      listing(
        [
          { kind: 't3', data: POST },
          { kind: 'more', data: { children: [] } },
          { kind: 't1', data: COMMENT },
        ],
        't1_x',
      ),
    );
    expect(parsed.things.map(({ kind }) => kind)).toEqual(['t3', 't1']);
    expect(parsed.unknownKinds).toEqual(new Map([['more', 1]]));
    expect(parsed.after).toBe('t1_x');
    expect(parsed.faults).toEqual([]);
  });

  test('names the path of a changed child and keeps the others', () => {
    const parsed = parseListing(
      listing([
        { kind: 't3', data: { ...POST, created_utc: 'yesterday' } },
        { kind: 't1', data: COMMENT },
        { data: 1 },
      ]),
    );
    expect(parsed.things).toHaveLength(1);
    expect(parsed.faults.map(({ path }) => path)).toEqual(['data.children.0.data.created_utc', 'data.children.2.kind']);
  });

  test.each([
    ['an error object', { message: 'Forbidden', error: 403 }, 'kind'],
    ['children that are no list', { kind: 'Listing', data: { children: {} } }, 'data.children'],
    ['nothing', null, ''],
  ])('refuses %s, naming the path', (_, body, path) => {
    expect(() => parseListing(body)).toThrow(UpstreamError);
    expect(() => parseListing(body)).toThrow(`"${path}"`);
  });
});
