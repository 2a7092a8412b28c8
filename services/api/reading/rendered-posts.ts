import { LRUCache } from 'lru-cache';
import type { PostMeta } from '../../../schemas/messages/forum-post.ts';
import { buildCommentTree } from './comment-tree.ts';
import type { CommentTree, LoadedComments } from './comment-tree.ts';
import { buildDiscussionGraph } from './discussion-graph.ts';
import { renderPostMarkdown } from './post-markdown.ts';
import type { LoadedPost } from './post-reader.ts';

export type PostFormat = 'json' | 'graph' | 'md';

/** What to render of a post, and in which format. */
export interface Rendering {
  format: PostFormat;
  /** Maximum number of comments. */
  limit: number;
  /** Bare id of the comment that the request asks about. */
  commentId: string | undefined;
}

/** One answer about a post. It is rendered once and sent to every request that asks for the same. */
export class RenderedPost {
  /** Number of comments in the answer. */
  readonly returned: number;
  readonly hasMore: boolean;
  private readonly format: PostFormat;
  /** UTF-8: Markdown, or a JSON object up to its closing brace. A part of `usual` once that exists. */
  private text: Buffer;
  /** The answer of requests that find the post in memory, and the end that their `meta` gives it. */
  private usual: { end: string; bytes: Buffer } | undefined;

  constructor(format: PostFormat, text: string, { returned, hasMore }: Pick<CommentTree, 'returned' | 'hasMore'>) {
    this.format = format;
    this.text = ownBytes(format === 'md' ? text : text.slice(0, -1));
    this.returned = returned;
    this.hasMore = hasMore;
  }

  get length(): number {
    return this.text.length;
  }

  /** Complete in its format: Markdown, or a JSON object without its member `meta`. */
  get bytes(): Buffer {
    return this.format === 'md' ? this.text : Buffer.concat([this.text, Buffer.from('}')]);
  }

  /**
   * The bytes of the answer to one request; nobody may change them. JSON gets `meta` as its last member: the cached
   * bytes are copied and never parsed. Requests that find the post in memory get the same bytes, which are copied once.
   * Markdown states its counts in the text and has no `meta`, so it is returned as is.
   */
  withMeta(meta: PostMeta): Buffer {
    if (this.format === 'md') return this.text;
    const end = `,"meta":${JSON.stringify(meta)}}`;
    if (this.usual?.end === end) return this.usual.bytes;
    const bytes = Buffer.allocUnsafeSlow(this.text.length + Buffer.byteLength(end));
    this.text.copy(bytes);
    bytes.write(end, this.text.length);
    if (meta.cache === 'L1_TINYLFU' && !meta.limited_by_balance && this.usual === undefined) {
      this.usual = { end, bytes };
      // So there is one copy in memory, not two.
      this.text = bytes.subarray(0, this.text.length);
    }
    return bytes;
  }
}

/**
 * UTF-8 in memory of its own. `Buffer.from` cuts short texts from a pool of 64 KB, and each cached one would keep its
 * whole pool alive: 422 MB for a cache of 32 MB.
 */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

interface Entry {
  rendered: RenderedPost;
  /** Those that it shows. Newer ones of the same post are rendered again. */
  comments: WeakRef<LoadedComments>;
}

/** Overhead of an entry in bytes, besides its bytes and its key. */
const ENTRY_BYTES = 1_000;

/**
 * Caches rendered posts as long as the loaded comments stay the same. Bounded by `memoryBytes`, least recently used
 * first out.
 */
export class RenderedPosts {
  private readonly entries: LRUCache<string, Entry>;
  private readonly onBytes: ((bytes: number) => void) | undefined;

  constructor({ memoryBytes, onBytes }: { memoryBytes: number; onBytes?: (bytes: number) => void }) {
    this.entries = new LRUCache({ maxSize: memoryBytes });
    this.onBytes = onBytes;
  }

  render(loaded: LoadedPost, rendering: Rendering): RenderedPost {
    const { format, limit, commentId = '' } = rendering;
    const key = `${loaded.post.id} ${commentId} ${limit} ${format}`;
    const known = this.entries.get(key);
    if (known?.comments.deref() === loaded.loaded) return known.rendered;
    const rendered = renderPost(loaded, rendering);
    const entry = { rendered, comments: new WeakRef(loaded.loaded) };
    const size = rendered.length + 2 * key.length + ENTRY_BYTES;
    this.entries.set(key, entry, { size });
    this.onBytes?.(this.entries.calculatedSize);
    return rendered;
  }
}

function renderPost(loaded: LoadedPost, { format, limit, commentId }: Rendering): RenderedPost {
  const tree = buildCommentTree(loaded.loaded, limit);
  const { comments, returned, hasMore } = tree;
  const post = { ...loaded.post, comments };
  if (format === 'md') {
    const focus = commentId === undefined ? {} : { focus_comment_id: commentId };
    const counts = { comments_returned: returned, comments_total: post.num_comments, has_more: hasMore };
    return new RenderedPost(format, renderPostMarkdown(post, { ...counts, ...focus }), tree);
  }
  const graph = { discussion_graph: buildDiscussionGraph(post, comments) };
  return new RenderedPost(format, JSON.stringify(format === 'graph' ? graph : { post, ...graph }), tree);
}
