import { beforeAll, describe, expect, it } from 'vitest';
import { WHOLE_SITE_FORUM } from '../../../support/forum-model/forum-options.ts';
import { ForumReader } from '../../../support/forum-model/forum-reader.ts';
import type { ForumRequest } from '../../../support/forum-model/forum-reader.ts';
import { Forum } from '../../../support/forum-model/forum.ts';
import { commentIndex, commentName, postId, postOrdinal } from '../../../support/forum-model/names.ts';
import { IN_ALL, IN_COMMUNITY } from '../../../support/forum-model/stores.ts';
import { steadily } from '../../../support/forum-model/traffic.ts';

const NOW = 300_000;

describe('ForumReader', () => {
  let forum: Forum;
  let reader: ForumReader;

  beforeAll(() => {
    const options = { ...WHOLE_SITE_FORUM, communities: 300, traffic: steadily(100), historyHours: 0.1 };
    forum = new Forum(options);
    forum.advance(NOW);
    reader = new ForumReader(forum);
  });

  /** All pages of a listing. */
  function readAll(request: Extract<ForumRequest, { after?: string | undefined }>): number[] {
    const items: number[] = [];
    let after: string | undefined;
    do {
      const answer = reader.answer({ ...request, after }, NOW);
      items.push(...answer.comments, ...answer.posts);
      after = answer.after;
    } while (after !== undefined);
    return items;
  }

  /** The newest comments with a property, without a listing. */
  function newest(count: number, matches: (index: number) => boolean): number[] {
    const found: number[] = [];
    for (let index = forum.comments.count - 1; index >= 0 && found.length < count; index--) {
      if (matches(index)) found.push(index);
    }
    return found;
  }

  it('pages through a thousand comments of all communities', () => {
    const listed = (index: number) => (forum.comments.places[index]! & IN_ALL) !== 0;
    expect(readAll({ path: '/r/all/comments' })).toEqual(newest(1000, listed));
  });

  it('pages through the comments of a group, also those that /r/all drops', () => {
    const communities = [3, 17, 40, 41, 120];
    const isListed = (index: number) =>
      communities.includes(forum.posts.community[forum.comments.post[index]!]!) &&
      (forum.comments.places[index]! & IN_COMMUNITY) !== 0;
    expect(readAll({ path: '/r/communities/comments', communities })).toEqual(newest(1000, isListed));
  });

  it('shows an outdated page as it was', () => {
    const { comments } = reader.answer({ path: '/r/all/comments' }, NOW, NOW - 20_000);
    expect(Math.max(...comments)).toBeLessThan(forum.comments.countAt(NOW - 20_000));
    expect(comments).toHaveLength(100);
  });

  it('shows nothing below a comment that the listing no longer holds', () => {
    const answer = reader.answer({ path: '/r/all/comments', after: reader.commentName(5) }, NOW);
    expect(answer).toMatchObject({ comments: [], after: undefined });
  });

  it('answers a thread with its newest 500 comments and names the others', () => {
    const largest = forum.posts.comments.subarray(0, forum.posts.count).reduce((a, b) => Math.max(a, b), 0);
    const post = forum.posts.comments.indexOf(largest);
    const answer = reader.answer({ path: '/comments', postId: postId(post) }, NOW);
    const all = newest(Infinity, (index) => forum.comments.post[index] === post);
    expect([...answer.comments, ...answer.more]).toEqual(all);
    expect(answer.comments.length).toBe(Math.min(500, all.length));
    expect(reader.comment(all[0]!).commentCount).toBe(largest);
  });

  it('finds posts and comments by name, but no holes', () => {
    const hole = forum.posts.shownAt.subarray(0, forum.posts.count).indexOf(Infinity);
    const names = [`t3_${postId(0)}`, `t3_${postId(hole)}`, 't3_zzzzzz', reader.commentName(7), 't1_abcdefghijkl'];
    expect(reader.answer({ path: '/api/info', names }, NOW)).toMatchObject({ posts: [0], comments: [7] });
  });
});

describe('names', () => {
  it.each(['random', 'sequential'] as const)('lead back to the item: %s', (naming) => {
    for (const index of [0, 1, 99, 12_345_678]) expect(commentIndex(commentName(index, naming), naming)).toBe(index);
    expect(postOrdinal(`t3_${postId(77)}`)).toBe(77);
  });

  it('are opaque: random ids have up to 13 characters and no order', () => {
    const ids = Array.from({ length: 1000 }, (_, index) => commentName(index, 'random').slice(3));
    expect(new Set(ids).size).toBe(1000);
    expect(ids.every((id) => /^[0-9a-z]{12,13}$/.test(id))).toBe(true);
    const ascending = ids.filter((id, index) => index > 0 && id > ids[index - 1]!).length;
    expect(ascending).toBeGreaterThan(400);
    expect(ascending).toBeLessThan(600);
  });
});
