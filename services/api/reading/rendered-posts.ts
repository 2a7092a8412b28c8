import type { PostMeta } from '../../../schemas/messages/forum-post.ts';
import { TinyLfuCache } from '../../../shared/cache/tiny-lfu-cache.ts';
import { buildCommentTree } from './comments/comment-tree.ts';
import type { CommentTree, HeldComments } from './comments/comment-tree.ts';
import { buildDiscussionGraph } from './comments/discussion-graph.ts';
import { renderPostMarkdown } from './comments/post-markdown.ts';
import type { HeldPost } from './post-reader.ts';

export type PostFormat = 'json' | 'graph' | 'md';

/** What of a post is asked for, and how. */
export interface Rendering {
  format: PostFormat;
  /** Comments at most. */
  limit: number;
  /** Bare id of the comment that the answer is about. */
  commentId: string | undefined;
}

/** One answer about a post, rendered once and sent to every request that asks for the same. */
export class RenderedPost {
  /** UTF-8, complete in its format: Markdown, or a JSON object without its member `meta`. */
  readonly bytes: Buffer;
  /** Number of comments in the answer. */
  readonly returned: number;
  readonly hasMore: boolean;
  private readonly format: PostFormat;

  constructor(format: PostFormat, text: string, { returned, hasMore }: Pick<CommentTree, 'returned' | 'hasMore'>) {
    this.format = format;
    this.bytes = Buffer.from(text);
    this.returned = returned;
    this.hasMore = hasMore;
  }

  /**
   * The bytes of the answer to one request. JSON gets `meta` as its last member: the cached bytes are copied up to their
   * closing brace and never parsed. Markdown states its counts in the text and has no `meta`, so it is returned as is.
   */
  withMeta(meta: PostMeta): Buffer {
    if (this.format === 'md') return this.bytes;
    const withoutBrace = this.bytes.subarray(0, this.bytes.length - 1);
    return Buffer.concat([withoutBrace, Buffer.from(`,"meta":${JSON.stringify(meta)}}`)]);
  }
}

interface Entry {
  rendered: RenderedPost;
  /** Number of the reading that it was made of: another reading of the same post is rendered anew. */
  version: number;
}

/** What an entry takes beside its bytes and its key. */
const ENTRY_BYTES = 400;

/** The bytes of answers about posts, kept as long as the post itself is the same. Bounded by `memoryBytes`. */
export class RenderedPosts {
  private readonly entries: TinyLfuCache<Entry>;
  /** Readings are numbered, not held: that is for the cache of posts to decide. */
  private readonly versions = new WeakMap<HeldComments, number>();
  private latest = 0;

  constructor({ memoryBytes }: { memoryBytes: number }) {
    this.entries = new TinyLfuCache({ maxBytes: memoryBytes });
  }

  render(held: HeldPost, rendering: Rendering): RenderedPost {
    const { format, limit, commentId = '' } = rendering;
    const key = `${held.post.id} ${commentId} ${limit} ${format}`;
    const version = this.versionOf(held.held);
    const known = this.entries.get(key);
    if (known?.version === version) return known.rendered;
    const rendered = renderPost(held, rendering);
    this.entries.set(key, { rendered, version }, rendered.bytes.length + 2 * key.length + ENTRY_BYTES);
    return rendered;
  }

  private versionOf(comments: HeldComments): number {
    const known = this.versions.get(comments);
    if (known !== undefined) return known;
    this.versions.set(comments, ++this.latest);
    return this.latest;
  }
}

function renderPost(held: HeldPost, { format, limit, commentId }: Rendering): RenderedPost {
  const tree = buildCommentTree(held.held, limit);
  const { comments, returned, hasMore } = tree;
  const post = { ...held.post, comments };
  if (format === 'md') {
    const focus = commentId === undefined ? {} : { focus_comment_id: commentId };
    const counts = { comments_returned: returned, comments_total: post.num_comments, has_more: hasMore };
    return new RenderedPost(format, renderPostMarkdown(post, { ...counts, ...focus }), tree);
  }
  const graph = { discussion_graph: buildDiscussionGraph(post, comments) };
  return new RenderedPost(format, JSON.stringify(format === 'graph' ? graph : { post, ...graph }), tree);
}
