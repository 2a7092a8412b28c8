import type { Comment, Post, PostMedia, PostMeta } from '../../../schemas/messages/forum-post.ts';
import { escapeBlockStart, inlineLink, inlineText, untrustedText } from './untrusted-text.ts';
import { inPageOrder } from './comment-tree.ts';

/** Deeper replies are shown at this depth and name their parent, because deeper indents leave no room for text. */
const MAX_INDENT_LEVEL = 8;
/** The width of `- `. The content of a list item is indented by it. */
const INDENT = '  ';
const DELETED_AUTHOR = '[deleted]';

/** What the document says about its comments. */
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
