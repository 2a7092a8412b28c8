import { LRUCache } from 'lru-cache';
import type { Comment, Post, PostMedia, PostMeta } from '../../../schemas/messages/forum-post.ts';
import { buildCommentTree, buildDiscussionGraph, inPageOrder } from './comment-tree.ts';
import type { CommentTree, LoadedComments } from './comment-tree.ts';
import type { LoadedPost } from './post-reader.ts';
import { escapeBlockStart, inlineLink, inlineText, untrustedText } from './untrusted-text.ts';

export type PostFormat = 'json' | 'graph' | 'md';

/** What to render of a post, and in which format. */
export interface Rendering {
  format: PostFormat;
  /** Maximum number of comments. */
  limit: number;
  /** Bare id of the comment that the request asks about. */
  commentId: string | undefined;
}

/** One response about a post. It is rendered once and sent to every request that asks for the same. */
export class RenderedPost {
  /** Number of comments in the response. */
  readonly returned: number;
  readonly hasMore: boolean;
  private readonly format: PostFormat;
  /** UTF-8: Markdown, or a JSON object up to its closing brace. A part of `usual` once that exists. */
  private text: Buffer;
  /** The response of requests that find the post in memory, and the end that their `meta` gives it. */
  private usual: { end: string; bytes: Buffer } | undefined;

  constructor(format: PostFormat, text: string, { returned, hasMore }: Pick<CommentTree, 'returned' | 'hasMore'>) {
    this.format = format;
    this.text = separateBytes(format === 'md' ? text : text.slice(0, -1));
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
   * The bytes of the response to one request, which must not be changed. JSON gets `meta` as its last member: the
   * cached bytes are copied and never parsed. Requests that find the post in memory get the same bytes, which are
   * copied once. Markdown states its counts in the text and has no `meta`, so it is returned as is.
   */
  withMeta(meta: PostMeta): Buffer {
    if (this.format === 'md') return this.text;
    const end = `,"meta":${JSON.stringify(meta)}}\n`;
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
 * UTF-8 in separate memory. `Buffer.from` cuts short texts from a pool of 64 KB, and each cached one would keep its
 * whole pool alive: 422 MB for a cache of 32 MB.
 */
function separateBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

interface Entry {
  rendered: RenderedPost;
  /** The comments that it shows. A newer list of the same post is rendered again. */
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

/** Deeper replies are shown at this depth and name their parent, because deeper indents leave no room for text. */
const MAX_INDENT_LEVEL = 8;
/** The width of `- `. The content of a list item is indented by it. */
const INDENT = '  ';
const DELETED_AUTHOR = '[deleted]';

export type MarkdownMeta = Pick<PostMeta, 'comments_returned' | 'comments_total' | 'has_more' | 'focus_comment_id'>;

/**
 * Renders a post and its comments as one Markdown document. All headings and lists are ours. Untrusted texts can
 * contain only paragraphs, code and quotes. Names and titles are shown unchanged.
 */
export function renderPostMarkdown(post: Post, meta: MarkdownMeta): string {
  const blocks = [
    titleOf(post),
    factsOf(post),
    flagsOf(post),
    untrustedText(post.selftext).join('\n'),
    linkOf(post),
    mediaOf(post),
    pollOf(post),
    crosspostOf(post),
    `## Comments (${meta.comments_returned} of ${meta.comments_total})`,
    ...inPageOrder(post.comments).map(commentBlock),
    moreOf(meta),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** Escapes `#` at the end, which would close the heading. */
function titleOf({ title }: Post): string {
  return `# ${inlineText(title).replace(/(?<=^|\s)#+$/, '\\$&')}`.trimEnd();
}

function factsOf(post: Post): string {
  return [
    `r/${inlineText(post.subreddit)}`,
    userName(post.author),
    `${counted(post.score, 'point')} (${Math.round(post.upvote_ratio * 100)}%)`,
    counted(post.num_comments, 'comment'),
    toSeconds(post.created_at),
    inlineLink(post.permalink),
  ].join(' · ');
}

function flagsOf(post: Post): string {
  const flags = [
    post.over_18 ? 'NSFW' : '',
    post.spoiler ? 'spoiler' : '',
    post.locked ? 'locked' : '',
    post.removed ? 'removed' : '',
    post.flair === '' ? '' : `flair: ${inlineText(post.flair)}`,
  ];
  return flags.filter((flag) => flag !== '').join(' · ');
}

/** The link of a post, unless it is a text post or the link is shown below as media or crosspost. */
function linkOf(post: Post): string {
  const isShown = post.is_self || post.media.length > 0 || post.crosspost_of !== null;
  return isShown || post.url === '' || post.url === post.permalink ? '' : `Link: ${inlineLink(post.url)}`;
}

function mediaOf({ media }: Post): string {
  return media.length === 0 ? '' : ['Media:', '', ...media.map(mediaItem)].join('\n');
}

function mediaItem({ type, url, width, height, caption }: PostMedia): string {
  const size = width > 0 && height > 0 ? ` (${width}×${height})` : '';
  const text = inlineText(caption);
  return `- ${type === 'gallery' ? 'image' : type}: ${inlineLink(url)}${size}${text === '' ? '' : ` · ${text}`}`;
}

/** The forum sends no counts while a poll is open. */
function pollOf({ poll }: Post): string {
  if (poll === null) return '';
  const isCounted = poll.is_closed || poll.options.some((option) => option.vote_count > 0);
  const options = poll.options.map(({ text, vote_count: count }) => {
    const shown = escapeBlockStart(inlineText(text));
    return isCounted ? `- ${shown} · ${counted(count, 'vote')}` : `- ${shown}`;
  });
  const state = poll.is_closed ? 'closed' : 'open';
  return [`Poll (${state}, ${counted(poll.total_votes, 'vote')}):`, '', ...options].join('\n');
}

function crosspostOf({ crosspost_of: original }: Post): string {
  if (original === null) return '';
  const title = original.title === '' ? 'a post' : `"${inlineText(original.title)}"`;
  const author = original.author === '' ? '' : ` by ${userName(original.author)}`;
  const place = original.subreddit === '' ? '' : ` in r/${inlineText(original.subreddit)}`;
  return `Crosspost of ${title}${author}${place} · ${inlineLink(original.permalink)} · t3_${original.id}`;
}

function commentBlock(comment: Comment): string {
  const indent = INDENT.repeat(Math.min(comment.depth, MAX_INDENT_LEVEL));
  const isCapped = comment.depth > MAX_INDENT_LEVEL;
  const facts = [
    `**${userName(comment.author)}**${comment.is_submitter ? ' [OP]' : ''}`,
    counted(comment.score, 'point'),
    toSeconds(comment.created_at),
    `t1_${comment.id}${isCapped ? ` (depth ${comment.depth}, reply to ${comment.parent_id})` : ''}`,
  ];
  const head = `${indent}- ${facts.join(' · ')}`;
  const text = untrustedText(comment.body).map((line) => (line.trim() === '' ? '' : indent + INDENT + line));
  return text.length === 0 ? head : [head, '', ...text].join('\n');
}

function moreOf(meta: MarkdownMeta): string {
  if (!meta.has_more) return '';
  if (meta.focus_comment_id !== undefined) return '_More replies: raise max_comments_';
  const left = meta.comments_total - meta.comments_returned;
  return left > 0 ? `_${counted(left, 'more comment')}: raise max_comments_` : '_More comments: raise max_comments_';
}

function userName(author: string): string {
  return author === DELETED_AUTHOR ? 'u/[deleted]' : `u/${inlineText(author)}`;
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${Math.abs(count) === 1 ? '' : 's'}`;
}

function toSeconds(timestamp: string): string {
  return timestamp.replace(/\.\d+Z$/, 'Z');
}
