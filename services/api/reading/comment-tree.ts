import type { Comment, DiscussionGraph, Post } from '../../../schemas/messages/forum-post.ts';
import type { MoreStub } from '../../../shared/forum-client/parse-comment-tree.ts';
import { isRemovedText } from '../../../shared/matching/rule.ts';

/**
 * The part of a thread that was loaded so far. Plain data, fit for a cache and for resuming later. Nothing here
 * modifies it.
 */
export interface LoadedComments {
  /** Flat, in the order found. `depth` and `replies` are set when a tree is built. */
  comments: readonly Comment[];
  /** Stubs of comments that the forum left out and that were not requested yet. */
  stubs: readonly MoreStub[];
  /** Comments that were requested and not returned. Their parent ids give their replies a position in the tree. */
  missing: readonly MissingComment[];
  /** Whether comments above the requested one were left out because of the limit. */
  lacksAncestors?: boolean;
}

export interface MissingComment {
  /** Bare id. */
  id: string;
  /** Fullname. */
  parentId: string;
}

export interface CommentTree {
  /** The top level. */
  comments: Comment[];
  /** Number of comments in the whole tree. */
  returned: number;
  /** Whether a higher limit, or further calls, would return more. */
  hasMore: boolean;
}

/** A comment and the id of its parent in the tree; undefined at the top level. */
interface Placed {
  comment: Comment;
  above: string | undefined;
}

/**
 * Builds the tree by parent ids, with siblings in the order found. When an id occurs twice, the first comment counts. A
 * comment whose parent is not loaded is placed below its nearest loaded ancestor, or at the top, and keeps its true
 * parent_id. Parents in a cycle lose one link.
 *
 * With more than `limit` comments the upper levels stay, and within a level those that a reader meets first. The
 * replies of a comment that is left out are left out too. Linear in the number of comments, whatever their nesting.
 */
export function buildCommentTree(loaded: LoadedComments, limit: number): CommentTree {
  const levels = new Map<string | undefined, Comment[]>();
  const order = placeComments(loaded);
  for (const { comment, above } of order.values()) {
    const siblings = levels.get(above);
    if (siblings) siblings.push(comment);
    else levels.set(above, [comment]);
  }
  const hasMore = order.size > limit || loaded.stubs.length > 0 || loaded.lacksAncestors === true;
  const tree: CommentTree = { comments: [], returned: 0, hasMore };
  const queue: { children: readonly Comment[]; into: Comment[]; depth: number }[] = [];
  const enqueue = (id: string | undefined, into: Comment[], depth: number): void => {
    const children = levels.get(id);
    if (children) queue.push({ children, into, depth });
  };
  enqueue(undefined, tree.comments, 0);
  for (const { children, into, depth } of queue) {
    for (const comment of children) {
      if (tree.returned >= limit) return tree;
      const node: Comment = { ...comment, depth, replies: [] };
      into.push(node);
      tree.returned++;
      enqueue(comment.id, node.replies, depth + 1);
    }
  }
  return tree;
}

/** All comments of a tree in page order: each before its replies. */
export function inPageOrder(comments: readonly Comment[]): Comment[] {
  const ordered: Comment[] = [];
  const open = [...comments].reverse();
  for (let comment = open.pop(); comment !== undefined; comment = open.pop()) {
    ordered.push(comment);
    for (let i = comment.replies.length - 1; i >= 0; i--) open.push(comment.replies[i]!);
  }
  return ordered;
}

/** The position of every comment, by bare id, in the order found. */
function placeComments(loaded: LoadedComments): Map<string, Placed> {
  const placed = new Map<string, Placed>();
  for (const comment of loaded.comments) {
    if (!placed.has(comment.id)) placed.set(comment.id, { comment, above: undefined });
  }
  const find = nearestLoaded(placed, parentsOfAbsent(loaded));
  for (const entry of placed.values()) entry.above = find(entry.comment.parent_id);
  breakCycles(placed);
  return placed;
}

/** Parents, as fullnames, of comments that exist but are not loaded, by bare id. */
function parentsOfAbsent(loaded: LoadedComments): Map<string, string> {
  const parents = new Map<string, string>();
  for (const { id, parentId } of loaded.missing) parents.set(id, parentId);
  for (const { parentId, childIds } of loaded.stubs) for (const id of childIds) parents.set(id, parentId);
  return parents;
}

/** Finds the nearest loaded comment on the way up from a parent, including the parent. Results are memoised. */
function nearestLoaded(placed: ReadonlyMap<string, Placed>, absent: ReadonlyMap<string, string>) {
  const found = new Map<string, string | undefined>();
  return (parentId: string): string | undefined => {
    const passed: string[] = [];
    let name: string | undefined = parentId;
    let nearest: string | undefined;
    while (name?.startsWith('t1_') === true) {
      const id: string = name.slice(3);
      if (placed.has(id) || found.has(id)) {
        nearest = placed.has(id) ? id : found.get(id);
        break;
      }
      passed.push(id);
      // A placeholder until the end of the path is known. It also ends a cycle.
      found.set(id, undefined);
      name = absent.get(id);
    }
    for (const id of passed) found.set(id, nearest);
    return nearest;
  };
}

/** Moves one comment of each cycle of parents to the top. Nothing else could reach the cycle. */
function breakCycles(placed: ReadonlyMap<string, Placed>): void {
  const settled = new Set<string>();
  for (const start of placed.keys()) {
    const path = new Set<string>();
    let id: string | undefined = start;
    while (id !== undefined && !settled.has(id)) {
      const entry: Placed = placed.get(id)!;
      path.add(id);
      if (entry.above !== undefined && path.has(entry.above)) entry.above = undefined;
      id = entry.above;
    }
    for (const passed of path) settled.add(passed);
  }
}

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
  const upvoted = others.filter((comment) => !isAutomatic(comment) && !isRemoved(comment));
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
function isRemoved({ body }: Comment): boolean {
  return isRemovedText(body);
}

function withoutReplies(comment: Comment): Comment {
  return { ...comment, replies: [] };
}
