import { TinyLfuCache } from '../../../shared/cache/tiny-lfu-cache.ts';
import { buildCommentTree } from './comments/comment-tree.ts';
import type { HeldComments } from './comments/comment-tree.ts';
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

export interface RenderedPost {
  /**
   * UTF-8. Markdown is whole; of JSON it is the object without its last member, `meta`, and without the closing brace.
   */
  bytes: Buffer;
  /** Comments in it. */
  returned: number;
  hasMore: boolean;
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
  const { comments, returned, hasMore } = buildCommentTree(held.held, limit);
  const post = { ...held.post, comments };
  const text = () => {
    if (format === 'md') {
      const focus = commentId === undefined ? {} : { focus_comment_id: commentId };
      const counts = { comments_returned: returned, comments_total: post.num_comments, has_more: hasMore };
      return renderPostMarkdown(post, { ...counts, ...focus });
    }
    const graph = { discussion_graph: buildDiscussionGraph(post, comments) };
    return JSON.stringify(format === 'graph' ? graph : { post, ...graph }).slice(0, -1);
  };
  return { bytes: Buffer.from(text()), returned, hasMore };
}
