import type { Comment } from '../../../../schemas/messages/forum-post.ts';
import type { MoreStub } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';

/** What is known of a thread so far. Plain data, so that it can be kept and gone on from; nothing here changes it. */
export interface HeldComments {
  /** Without nesting, in the order in which they were found; `depth` and `replies` are set when a tree is built. */
  comments: readonly Comment[];
  /** What the forum left out and was not asked for yet. */
  stubs: readonly MoreStub[];
  /** Comments that were asked for and did not come: where they stood, so that their replies find a place. */
  missing: readonly MissingComment[];
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
  /** In the whole tree. */
  returned: number;
  /** A higher limit, or further calls, would bring more. */
  hasMore: boolean;
}

/** A comment and the comment above it in the tree; undefined: it is at the top. */
interface Placed {
  comment: Comment;
  above: string | undefined;
}

/**
 * The tree by parent ids, siblings in the order found. Of a comment that came twice the first counts. One whose parent
 * is not held stands below its nearest known ancestor, or at the top, and keeps its true parent_id. Parents in a circle
 * lose one tie.
 *
 * With more than `limit` comments those of the upper levels stay, within a level those that a reader meets first; what
 * is cut takes everything below it along. Linear in the number of comments, whatever their nesting.
 */
export function buildCommentTree(held: HeldComments, limit: number): CommentTree {
  const levels = new Map<string | undefined, Comment[]>();
  const order = placeComments(held);
  for (const { comment, above } of order.values()) {
    const siblings = levels.get(above);
    if (siblings) siblings.push(comment);
    else levels.set(above, [comment]);
  }
  const tree: CommentTree = { comments: [], returned: 0, hasMore: order.size > limit || held.stubs.length > 0 };
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

/** All comments of a tree in the order of the page: each before its replies. */
export function inPageOrder(comments: readonly Comment[]): Comment[] {
  const ordered: Comment[] = [];
  const open = [...comments].reverse();
  for (let comment = open.pop(); comment !== undefined; comment = open.pop()) {
    ordered.push(comment);
    for (let i = comment.replies.length - 1; i >= 0; i--) open.push(comment.replies[i]!);
  }
  return ordered;
}

/** The place of every comment, by bare id, in the order found. */
function placeComments(held: HeldComments): Map<string, Placed> {
  const placed = new Map<string, Placed>();
  for (const comment of held.comments) {
    if (!placed.has(comment.id)) placed.set(comment.id, { comment, above: undefined });
  }
  const find = nearestHeld(placed, parentsOfAbsent(held));
  for (const entry of placed.values()) entry.above = find(entry.comment.parent_id);
  breakCircles(placed);
  return placed;
}

/** Parents, as fullnames, of comments that are not held but known to exist, by bare id. */
function parentsOfAbsent(held: HeldComments): Map<string, string> {
  const parents = new Map<string, string>();
  for (const { id, parentId } of held.missing) parents.set(id, parentId);
  for (const { parentId, childIds } of held.stubs) for (const id of childIds) parents.set(id, parentId);
  return parents;
}

/**
 * Finds the nearest held comment on the way up from a parent, the parent included. What was found once is not looked
 * for again.
 */
function nearestHeld(placed: ReadonlyMap<string, Placed>, absent: ReadonlyMap<string, string>) {
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
      // Until the end is known, which also ends a circle.
      found.set(id, undefined);
      name = absent.get(id);
    }
    for (const id of passed) found.set(id, nearest);
    return nearest;
  };
}

/** Puts one comment of each circle of parents at the top: nothing else could reach them. */
function breakCircles(placed: ReadonlyMap<string, Placed>): void {
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
