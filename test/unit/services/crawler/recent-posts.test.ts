import { expect, test } from 'vitest';
import { RecentPosts } from '../../../../services/crawler/recent-posts.ts';
import type { Thing } from '../../../../shared/upstream/parsing/thing-schema.ts';
import { commentData, postData } from '../../../../shared/upstream/parsing/thing-schema.ts';

function post(id: string): Thing {
  const text = { title: `Post ${id}`, selftext: '', permalink: `/r/tea/comments/${id}/` };
  const data = { id, author: 'a', subreddit: 'tea', created_utc: 1, score: 1, over_18: true, ...text };
  return { kind: 't3', data: postData.parse(data) };
}

test('returns the title and the NSFW flag of a post by its bare id', () => {
  const posts = new RecentPosts(10);
  posts.remember(post('p1'));
  expect(posts.get('p1')).toEqual({ title: 'Post p1', nsfw: true });
  expect(posts.get('p2')).toBeUndefined();
});

test('ignores comments', () => {
  const posts = new RecentPosts(10);
  const links = { subreddit: 'tea', link_id: 't3_p1', parent_id: 't3_p1' };
  posts.remember({
    kind: 't1',
    data: commentData.parse({ id: 'c1', author: 'a', created_utc: 1, body: '', score: 1, ...links }),
  });
  expect(posts.get('c1')).toBeUndefined();
});

test('always keeps the latest half of its capacity and drops old posts', () => {
  const posts = new RecentPosts(10);
  for (let n = 0; n < 100; n++) posts.remember(post(`p${n}`));
  for (let n = 95; n < 100; n++) expect(posts.get(`p${n}`)).toBeDefined();
  expect(posts.get('p0')).toBeUndefined();
});
