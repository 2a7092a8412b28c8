import { z } from 'zod';
import type { Comment } from '../../../schemas/messages/forum-post.ts';
import {
  moreChildrenAnswer,
  moreStub,
  threadAnswer,
  threadComment,
  threadNode,
  withReplies,
} from './comment-tree-schema.ts';
import type { ThreadComment } from './comment-tree-schema.ts';
import { parseAnswer, shapeFault } from './parse-page.ts';
import type { ShapeFault } from './parse-page.ts';
import { postSchema } from './post-schema.ts';
import type { UpstreamPost } from './post-schema.ts';
import { isoTime } from './to-post.ts';
import { UpstreamError } from '../upstream-error.ts';

const DELETED = '[deleted]';
const REPLIES_PATH = '.data.replies.data.children.';
/** The path in an error message shows this many levels at each end. */
const NAMED_LEVELS = 4;

/** A stub: comments that the forum left out of a response. */
export interface MoreStub {
  /** Fullname of the post or comment that they reply to. */
  parentId: string;
  /**
   * Bare ids of the direct replies, best first. Empty: the thread continues below the parent, which must be requested
   * itself.
   */
  childIds: readonly string[];
}

export interface ParsedComments {
  /** In page order, each before its replies. All have `depth` 0 and empty `replies`. */
  comments: Comment[];
  stubs: MoreStub[];
  /** Children of unknown kinds, with their counts. They are skipped, with everything below them. */
  unknownKinds: Map<string, number>;
  /** Comments and stubs that cannot be read. What is below such a comment is read all the same. */
  faults: ShapeFault[];
}

export interface ParsedThread extends ParsedComments {
  post: UpstreamPost;
}

/**
 * Parses a response of /comments/ID, at any depth of nesting.
 *
 * @throws UpstreamError broken when the post cannot be read; the message names the path and contains nothing of the
 * content
 * @throws UpstreamError not_found when the Listing of the post is empty
 */
export function parseThread(answer: unknown): ParsedThread {
  const [posts, comments] = parseAnswer(threadAnswer, answer);
  const first = posts.data.children[0];
  if (first === undefined) throw new UpstreamError('not_found', "the forum's thread has no post");
  const node = parseAnswer(z.object({ kind: z.literal('t3'), data: postSchema }), first, '0.data.children.0');
  return { post: node.data, ...parseNodes(comments.data.children, '1.data.children.', node.data.author) };
}

/**
 * Parses a response of /api/morechildren.
 *
 * @param postAuthor decides `is_submitter` where the forum does not send it
 * @throws UpstreamError broken when it is no such response
 */
export function parseMoreChildren(answer: unknown, postAuthor: string): ParsedComments {
  const { json } = parseAnswer(moreChildrenAnswer, answer);
  return parseNodes(json.data.things, 'json.data.things.', postAuthor);
}

/** The children of one Listing, and the level that contains it. */
interface Level {
  children: readonly unknown[];
  /** Index of the next child to read. */
  next: number;
  above: Level | undefined;
}

function parseNodes(children: readonly unknown[], root: string, postAuthor: string): ParsedComments {
  const result: ParsedComments = { comments: [], stubs: [], unknownKinds: new Map(), faults: [] };
  let level: Level | undefined = { children, next: 0, above: undefined };
  while (level !== undefined) {
    if (level.next === level.children.length) {
      level = level.above;
      continue;
    }
    const replies = parseNode(level.children[level.next], { root, level }, result, postAuthor);
    level.next++;
    if (replies !== undefined) level = { children: replies, next: 0, above: level };
  }
  return result;
}

/** Where a child was found. The path is built only for what cannot be read. */
interface NodePosition {
  root: string;
  level: Level;
}

/**
 * Adds one child to the result.
 *
 * @returns the children of the Listing of its replies, if it has one
 */
function parseNode(
  value: unknown,
  position: NodePosition,
  result: ParsedComments,
  postAuthor: string,
): readonly unknown[] | undefined {
  const fail = (error: z.ZodError, suffix: string): void => {
    result.faults.push(shapeFault(error, pathOf(position) + suffix));
  };
  const node = threadNode.safeParse(value);
  if (!node.success) {
    fail(node.error, '');
    return undefined;
  }
  const { kind, data } = node.data;
  if (kind === 't1') {
    const comment = threadComment.safeParse(data);
    if (comment.success) result.comments.push(toComment(comment.data, postAuthor));
    else fail(comment.error, '.data');
    // Without replies there is an empty text.
    return withReplies.safeParse(data).data?.replies.data.children;
  }
  if (kind === 'more') {
    const stub = moreStub.safeParse(data);
    if (stub.success) result.stubs.push({ parentId: stub.data.parent_id, childIds: stub.data.children });
    else fail(stub.error, '.data');
  } else {
    result.unknownKinds.set(kind, (result.unknownKinds.get(kind) ?? 0) + 1);
  }
  return undefined;
}

function pathOf({ root, level }: NodePosition): string {
  const steps: number[] = [];
  for (let current: Level | undefined = level; current !== undefined; current = current.above) {
    // The levels above have already advanced to their next child.
    steps.push(current === level ? current.next : current.next - 1);
  }
  steps.reverse();
  if (steps.length <= 2 * NAMED_LEVELS) return root + steps.join(REPLIES_PATH);
  const left = steps.length - 2 * NAMED_LEVELS;
  const [head, tail] = [steps.slice(0, NAMED_LEVELS), steps.slice(-NAMED_LEVELS)];
  return `${root}${head.join(REPLIES_PATH)} … ${left} levels … ${tail.join(REPLIES_PATH)}`;
}

function toComment(data: ThreadComment, postAuthor: string): Comment {
  return {
    id: data.id,
    parent_id: data.parent_id,
    author: data.author,
    body: data.body,
    score: data.score,
    created_at: isoTime(data.created_utc),
    depth: 0,
    is_submitter: data.is_submitter ?? (data.author !== DELETED && data.author === postAuthor),
    controversy: data.controversiality,
    replies: [],
  };
}
