import type { Comment, DiscussionGraph, Post } from '../../../schemas/messages/forum-post.ts';
import { isRemovedText } from '../../../shared/matching/text/item-texts.ts';
import { inPageOrder } from './comment-tree.ts';

/** Length of most_upvoted. */
const MAX_UPVOTED = 10;

const AUTOMATIC_MODERATOR = 'automoderator';
const DELETED_AUTHOR = '[deleted]';

/**
 * Summarises a discussion from the comments that were read (`comments` is their tree). Ties keep page order.
 *
 * - author_followups: all comments of the original poster, in page order;
 * - most_upvoted: the 10 highest scores, without the original poster, the automatic moderator, and deleted or removed
 *   comments;
 * - controversial: all comments with the forum's flag or a negative score, without the original poster; the most
 *   negative first, and flagged ones before others of the same score.
 */
export function buildDiscussionGraph(
  post: Pick<Post, 'id' | 'title' | 'author'>,
  comments: readonly Comment[],
): DiscussionGraph {
  const all = inPageOrder(comments);
  const others = all.filter((comment) => !isByPoster(comment, post.author));
  const upvoted = others.filter((comment) => !isAutomatic(comment) && !isGone(comment));
  const disputed = others.filter(({ controversy, score }) => controversy > 0 || score < 0);
  return {
    post_id: post.id,
    title: post.title,
    author: post.author,
    author_followups: all.filter((comment) => isByPoster(comment, post.author)).map(withoutReplies),
    most_upvoted: upvoted
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_UPVOTED)
      .map(withoutReplies),
    controversial: disputed.sort((a, b) => a.score - b.score || b.controversy - a.controversy).map(withoutReplies),
    total_analyzed: all.length,
  };
}

/** Account names ignore case. Deleted accounts share one name, so it identifies nobody unless the forum says so. */
function isByPoster(comment: Comment, poster: string): boolean {
  if (comment.is_submitter) return true;
  return poster !== DELETED_AUTHOR && comment.author.toLowerCase() === poster.toLowerCase();
}

function isAutomatic({ author }: Comment): boolean {
  return author.toLowerCase() === AUTOMATIC_MODERATOR;
}

/** Whether the text was deleted. The text of a deleted account may remain. */
function isGone({ body }: Comment): boolean {
  return isRemovedText(body);
}

function withoutReplies(comment: Comment): Comment {
  return { ...comment, replies: [] };
}
