import { expect, test } from 'vitest';
import type { PostMeta } from '../../../../../schemas/messages/forum-post.ts';
import type { LoadedPost } from '../../../../../services/api/reading/post-reader.ts';
import { buildCommentTree } from '../../../../../services/api/reading/comments/comment-tree.ts';
import { buildDiscussionGraph } from '../../../../../services/api/reading/comments/discussion-graph.ts';
import { renderPostMarkdown } from '../../../../../services/api/reading/comments/post-markdown.ts';
import { RenderedPosts } from '../../../../../services/api/reading/rendered-posts.ts';
import { releaseMemory } from '../../../../../shared/runtime/release-memory.ts';
import { parseThread } from '../../../../../shared/upstream/parsing/parse-comment-tree.ts';
import { toPost } from '../../../../../shared/upstream/parsing/to-post.ts';
import { threadOf } from '../../../../bench/reading/reading-thread.ts';

function loadedPost(id: string, comments: number): LoadedPost {
  const thread = parseThread(threadOf(id, comments));
  const post = toPost(thread.post, { siteUrl: 'https://forum.example', now: 0 });
  return { post, loaded: { comments: thread.comments, stubs: thread.stubs, missing: [] } };
}

const JSON_OF = { format: 'json', limit: 500, commentId: undefined } as const;

test('renders JSON without meta, and the graph without the post', () => {
  const loaded = loadedPost('a', 30);
  const rendered = new RenderedPosts({ memoryBytes: 1e6 });
  const whole = rendered.render(loaded, JSON_OF);
  const { comments } = buildCommentTree(loaded.loaded, 500);
  const post = { ...loaded.post, comments };
  const graph = { discussion_graph: buildDiscussionGraph(post, comments) };
  expect(JSON.parse(whole.bytes.toString())).toEqual({ post, ...graph });
  expect([whole.returned, whole.hasMore]).toEqual([30, false]);
  const alone = rendered.render(loaded, { ...JSON_OF, format: 'graph' });
  expect(JSON.parse(alone.bytes.toString())).toEqual(graph);
});

const META: PostMeta = {
  comments_returned: 30,
  comments_total: 30,
  has_more: false,
  max_comments: 500,
  credits_used: 1,
  cache: 'MISS',
  limited_by_balance: false,
};

test('withMeta appends meta as the last member of JSON and leaves the cached bytes unchanged', () => {
  const rendered = new RenderedPosts({ memoryBytes: 1e6 });
  for (const format of ['json', 'graph'] as const) {
    const answer = rendered.render(loadedPost('a', 30), { ...JSON_OF, format });
    const before = answer.bytes.toString();
    const expected = JSON.stringify({ ...(JSON.parse(before) as object), meta: META });
    expect(answer.withMeta(META).toString()).toBe(expected);
    const second = answer.withMeta({ ...META, credits_used: 2 }).toString();
    expect(second).toBe(expected.replace('"credits_used":1', '"credits_used":2'));
    expect(answer.bytes.toString()).toBe(before);
  }
});

test('requests that find the post in memory get the same bytes, and all others their own', () => {
  const answer = new RenderedPosts({ memoryBytes: 1e6 }).render(loadedPost('a', 30), JSON_OF);
  const expected = (meta: PostMeta) => JSON.stringify({ ...(JSON.parse(answer.bytes.toString()) as object), meta });
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

test('withMeta returns Markdown as it is, because Markdown has no meta', () => {
  const markdown = new RenderedPosts({ memoryBytes: 1e6 }).render(loadedPost('a', 3), { ...JSON_OF, format: 'md' });
  expect(markdown.withMeta(META)).toBe(markdown.bytes);
});

test('a kept answer keeps no memory besides its own bytes, once', () => {
  const rendered = new RenderedPosts({ memoryBytes: 1e6 });
  const markdown = rendered.render(loadedPost('a', 3), { ...JSON_OF, format: 'md' }).bytes;
  expect(markdown.buffer.byteLength).toBe(markdown.length);
  const json = rendered.render(loadedPost('a', 3), JSON_OF);
  const bytes = json.withMeta({ ...META, cache: 'L1_TINYLFU' });
  expect(bytes.buffer.byteLength).toBe(bytes.length);
  const kept = Object.values(json).filter((value) => value instanceof Buffer);
  expect(kept.map((buffer: Buffer) => buffer.buffer === bytes.buffer)).toEqual([true]);
});

test('renders each limit, format and comment separately', () => {
  const loaded = loadedPost('a', 30);
  const rendered = new RenderedPosts({ memoryBytes: 1e6 });
  rendered.render(loaded, JSON_OF);
  const cut = rendered.render(loaded, { ...JSON_OF, limit: 10 });
  expect([cut.returned, cut.hasMore]).toEqual([10, true]);
  const focused = rendered.render(loaded, { format: 'md', limit: 10, commentId: 'c1' });
  const post = { ...loaded.post, comments: buildCommentTree(loaded.loaded, 10).comments };
  const meta = { comments_returned: 10, comments_total: post.num_comments, has_more: true, focus_comment_id: 'c1' };
  expect(focused.bytes.toString()).toBe(renderPostMarkdown(post, meta));
  expect(rendered.render(loaded, { format: 'md', limit: 10, commentId: undefined }).bytes).not.toEqual(focused.bytes);
});

test('renders the same comments once, and newer comments of the post again', () => {
  const rendered = new RenderedPosts({ memoryBytes: 1e6 });
  const [first, second] = [loadedPost('a', 3), loadedPost('a', 4)];
  const answer = rendered.render(first, JSON_OF);
  expect(rendered.render({ ...first }, JSON_OF)).toBe(answer);
  expect(rendered.render(second, JSON_OF).returned).toBe(4);
  expect(rendered.render(first, JSON_OF).returned).toBe(3);
});

test('renders an answer each time when it does not fit into memory', () => {
  const rendered = new RenderedPosts({ memoryBytes: 1_000 });
  const loaded = loadedPost('a', 30);
  const answer = rendered.render(loaded, JSON_OF);
  expect(answer.length).toBeGreaterThan(1_000);
  expect(rendered.render(loaded, JSON_OF)).not.toBe(answer);
  expect(rendered.render(loaded, JSON_OF).bytes).toEqual(answer.bytes);
});

test('drops answers whose comments nobody holds any more', async () => {
  let bytes = 0;
  const rendered = new RenderedPosts({ memoryBytes: 1e6, onBytes: (now) => (bytes = now) });
  const kept = loadedPost('kept', 3);
  rendered.render(kept, JSON_OF);
  const ofOne = bytes;
  for (const id of ['a', 'b', 'c', 'd']) rendered.render(loadedPost(id, 3), JSON_OF);
  expect(bytes).toBeGreaterThan(4 * ofOne);
  // A weak reference that was made or read keeps its target until the turn of the event loop ends.
  await new Promise(setImmediate);
  releaseMemory();
  for (const limit of [1, 2]) rendered.render(kept, { ...JSON_OF, limit });
  expect(bytes).toBeLessThan(4 * ofOne);
  expect(rendered.render(kept, JSON_OF).returned).toBe(3);
});
