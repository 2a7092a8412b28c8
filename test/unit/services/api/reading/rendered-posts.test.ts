import { expect, test } from 'vitest';
import type { PostMeta } from '../../../../../schemas/messages/forum-post.ts';
import type { LoadedPost } from '../../../../../services/api/reading/post-reader.ts';
import { RenderedPosts } from '../../../../../services/api/reading/rendered-posts.ts';
import { parseThread } from '../../../../../shared/forum-client/parse-comment-tree.ts';
import { toPost } from '../../../../../shared/forum-client/forum-resources.ts';
import { threadOf } from '../../../../bench/reading/reading-thread.ts';

function loadedPost(id: string, comments: number): LoadedPost {
  const thread = parseThread(threadOf(id, comments));
  const post = toPost(thread.post, { siteUrl: 'https://forum.example', now: 0 });
  return { post, loaded: { comments: thread.comments, stubs: thread.stubs, missing: [] } };
}

const JSON_OF = { format: 'json', limit: 500, commentId: undefined } as const;

const META: PostMeta = {
  comments_returned: 30,
  comments_total: 30,
  has_more: false,
  max_comments: 500,
  credits_used: 1,
  cache: 'MISS',
  limited_by_balance: false,
};

test('requests that find the post in memory get the same bytes, and all others their own', () => {
  const answer = new RenderedPosts({ memoryBytes: 1e6 }).render(loadedPost('a', 30), JSON_OF);
  const expected = (meta: PostMeta) =>
    `${JSON.stringify({ ...(JSON.parse(answer.bytes.toString()) as object), meta })}\n`;
  const hit: PostMeta = { ...META, cache: 'L1_TINYLFU' };
  const others: PostMeta[] = [META, { ...hit, limited_by_balance: true }, { ...hit, max_comments: 499 }];
  expect(answer.withMeta(others[1]!).toString()).toBe(expected(others[1]!));
  const bytes = answer.withMeta(hit);
  for (const meta of others) {
    expect(answer.withMeta(meta).toString()).toBe(expected(meta));
    expect(answer.withMeta(meta)).not.toBe(bytes);
  }
  expect(answer.withMeta({ ...hit })).toBe(bytes);
  expect(bytes.toString()).toBe(expected(hit));
});

test('renders the same comments once, and newer comments of the post again', () => {
  const rendered = new RenderedPosts({ memoryBytes: 1e6 });
  const [first, second] = [loadedPost('a', 3), loadedPost('a', 4)];
  const answer = rendered.render(first, JSON_OF);
  expect(rendered.render({ ...first }, JSON_OF)).toBe(answer);
  expect(rendered.render(second, JSON_OF).returned).toBe(4);
  expect(rendered.render(first, JSON_OF).returned).toBe(3);
});
