import { describe, expect, test } from 'vitest';
import { forumItem } from '../../../../schemas/messages/forum-item.ts';
import { parseThing, thingToForumItem } from '../../../../shared/forum-client/parse-things.ts';
import type { PostOfComment } from '../../../../shared/forum-client/parse-things.ts';
import { COMMENT, POST } from '../../../support/samples/forum-things.ts';

const ORIGIN = { source: 'listings', replay: false, firstSeenAt: 1767225601234, siteUrl: 'https://forum.example' };

function itemOf(kind: string, data: object, post?: PostOfComment) {
  const parsed = parseThing({ kind, data }, '');
  if (parsed.outcome !== 'thing') throw new Error(JSON.stringify(parsed));
  return forumItem.parse(thingToForumItem(parsed.thing, ORIGIN, post));
}

describe('a post', () => {
  test('is mapped to an item', () => {
    expect(itemOf('t3', POST)).toEqual({
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

  test.each([
    { ageMs: 120_000, replay: false, late: undefined },
    { ageMs: 120_001, replay: false, late: true },
    { ageMs: -5_000, replay: false, late: undefined },
    { ageMs: 86_400_000, replay: true, late: undefined },
  ])('first seen $ageMs ms after its creation, replay $replay: late is $late', ({ ageMs, replay, late }) => {
    const parsed = parseThing({ kind: 't3', data: POST }, '');
    if (parsed.outcome !== 'thing') throw new Error(JSON.stringify(parsed));
    const origin = { ...ORIGIN, replay, firstSeenAt: parsed.thing.data.created_utc * 1000 + ageMs };
    const item = forumItem.parse(thingToForumItem(parsed.thing, origin));
    expect([item.late, 'late' in item]).toEqual([late, late === true]);
  });

  test('without a community is accepted only as an advertisement', () => {
    const { subreddit: _, ...withoutSubreddit } = POST;
    expect(itemOf('t3', { ...withoutSubreddit, promoted: true }).subreddit).toBe('');
    expect(parseThing({ kind: 't3', data: withoutSubreddit }, 'x')).toMatchObject({
      fault: { path: 'x.data.subreddit' },
    });
  });
});

describe('a comment', () => {
  test('is mapped to an item and keeps an opaque id of 13 characters', () => {
    expect(itemOf('t1', COMMENT)).toMatchObject({
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

  test('of a thread takes title and NSFW flag from its post and gets a permalink', () => {
    const { link_title: _, over_18: __, permalink: ___, ...bare } = COMMENT;
    expect(itemOf('t1', bare, { title: 'From the post', nsfw: false })).toMatchObject({
      title: 'From the post',
      nsfw: false,
      permalink: 'https://forum.example/r/tea/comments/1q2w3e/_/zzzzzzzzzzzz9/',
    });
    expect(itemOf('t1', bare)).toMatchObject({ title: '', nsfw: true });
  });

  test('without link_id gets its post id from its context, its permalink or its parent', () => {
    const { link_id: _, permalink: __, ...loose } = COMMENT;
    const context = '/r/tea/comments/777/x/zzzzzzzzzzzz9/?context=3';
    expect(itemOf('t1', { ...loose, context }).post_id).toBe('777');
    expect(itemOf('t1', { ...loose, parent_id: 't3_888' }).post_id).toBe('888');
    expect(parseThing({ kind: 't1', data: loose }, '')).toMatchObject({ fault: { path: 'data.link_id' } });
  });
});
