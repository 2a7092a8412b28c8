import { z } from 'zod';
import { bareId, fullname } from '../../schemas/messages/forum-item.ts';
import type { Comment } from '../../schemas/messages/forum-post.ts';
import { isoTime, postSchema } from './forum-resources.ts';
import type { UpstreamPost } from './forum-resources.ts';
import {
  commentFields,
  count,
  countKind,
  listing,
  node,
  optional,
  parseAnswer,
  parseThing,
  readable,
  shapeFault,
} from './parse-things.ts';
import type { ChildFault, CommentData, PostData, ShapeFault } from './parse-things.ts';
import { UpstreamError } from './upstream-error.ts';

const DELETED = '[deleted]';
const REPLIES_PATH = '.data.replies.data.children.';
/** The path in an error message shows this many levels at each end. */
const NAMED_LEVELS = 4;

/** A comment's `data` inside a thread, for the reading routes. Unknown fields are ignored. */
const threadComment = commentFields
  .pick({ id: true, author: true, created_utc: true, body: true, parent_id: true, score: true })
  .extend({
    controversiality: count,
    /** Missing before 2017. */
    is_submitter: optional(z.boolean()),
  });

/** The `data` of a stub, which stands for comments that the forum left out. */
const moreStub = z.object({ children: readable(bareId), parent_id: fullname, count });

/** Replies where they are not `""`. They are parsed level by level: a recursive schema could overflow the stack. */
const withReplies = z.object({ replies: listing });

/** /comments/ID: the post and its comments. */
const threadAnswer = z.tuple([listing, listing]);

/** /api/morechildren: comments and stubs, flat and in page order. */
const moreChildrenAnswer = z.object({ json: z.object({ data: z.object({ things: z.array(z.unknown()) }) }) });

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

/** Comments that the forum left out of a thread; `count` is how many it counts, with the replies below them. */
export type LeftOut = MoreStub & { count: number };

export interface ThreadThings {
  post: PostData;
  comments: CommentData[];
  leftOut: LeftOut[];
  /** Comments of unknown shape; what is below them is parsed all the same. */
  faults: ChildFault[];
  unknownKinds: Map<string, number>;
}

/**
 * Parses a response of /comments/ID for the reading routes, at any depth of nesting.
 *
 * @throws UpstreamError broken when the post cannot be read; the message names the path and contains nothing of the
 * content
 * @throws UpstreamError not_found when the Listing of the post is empty
 */
export function parseThread(answer: unknown): ParsedThread {
  const { first, comments } = openThread(answer);
  const { data } = parseAnswer(z.object({ kind: z.literal('t3'), data: postSchema }), first, '0.data.children.0');
  return { post: data, ...parseComments(comments, '1.data.children.', data.author) };
}

/**
 * Parses a response of /api/morechildren for the reading routes.
 *
 * @param postAuthor decides `is_submitter` where the forum does not send it
 * @throws UpstreamError broken when it is no such response
 */
export function parseMoreChildren(answer: unknown, postAuthor: string): ParsedComments {
  return parseComments(parseAnswer(moreChildrenAnswer, answer).json.data.things, 'json.data.things.', postAuthor);
}

/**
 * Parses a response of /comments/ID for the crawler: each comment as in a listing, with the title and the NSFW flag of
 * its post. A comment of unknown shape does not hide the others.
 *
 * @throws UpstreamError broken when the response or its post has an unknown shape, not_found when it has no post
 */
export function parseThreadThings(answer: unknown): ThreadThings {
  const { first, comments } = openThread(answer);
  const parsed = parseThing(first, '0.data.children.0');
  if (parsed.outcome === 'thing' && parsed.thing.kind === 't3') return parseThings(comments, parsed.thing.data);
  throw new UpstreamError('broken', 'the post of a thread has an unknown shape', { reason: 'shape' });
}

/**
 * Parses a response of /api/morechildren in the same way.
 *
 * @throws UpstreamError broken when the response has an unknown shape
 */
export function parseMoreThings(answer: unknown, post: PostData): ThreadThings {
  return parseThings(parseAnswer(moreChildrenAnswer, answer).json.data.things, post);
}

function openThread(answer: unknown): { first: unknown; comments: readonly unknown[] } {
  const [posts, comments] = parseAnswer(threadAnswer, answer);
  const first = posts.data.children[0];
  if (first === undefined) throw new UpstreamError('not_found', "the forum's thread has no post");
  return { first, comments: comments.data.children };
}

/** The children of one Listing, and the level that contains it. */
interface Level {
  children: readonly unknown[];
  /** Index of the next child to read. */
  next: number;
  above: Level | undefined;
}

/** Calls `visit` with each child in page order, a comment before its replies. */
function walk(
  children: readonly unknown[],
  visit: (child: unknown, parsed: z.ZodSafeParseResult<z.output<typeof node>>, level: Level) => void,
): void {
  let level: Level | undefined = { children, next: 0, above: undefined };
  while (level !== undefined) {
    if (level.next === level.children.length) {
      level = level.above;
      continue;
    }
    const child = level.children[level.next];
    const parsed = node.safeParse(child);
    visit(child, parsed, level);
    level.next++;
    // Without replies there is an empty text.
    const replies = parsed.data?.kind === 't1' ? withReplies.safeParse(parsed.data.data).data : undefined;
    if (replies !== undefined) level = { children: replies.replies.data.children, next: 0, above: level };
  }
}

function parseComments(children: readonly unknown[], root: string, postAuthor: string): ParsedComments {
  const result: ParsedComments = { comments: [], stubs: [], unknownKinds: new Map(), faults: [] };
  walk(children, (_child, parsed, level) => {
    const fail = (error: z.ZodError, suffix: string): void => {
      result.faults.push(shapeFault(error, pathOf(root, level) + suffix));
    };
    if (!parsed.success) {
      fail(parsed.error, '');
      return;
    }
    const { kind, data } = parsed.data;
    if (kind === 't1') {
      const comment = threadComment.safeParse(data);
      if (comment.success) result.comments.push(toComment(comment.data, postAuthor));
      else fail(comment.error, '.data');
    } else if (kind === 'more') {
      const stub = moreStub.safeParse(data);
      if (stub.success) result.stubs.push({ parentId: stub.data.parent_id, childIds: stub.data.children });
      else fail(stub.error, '.data');
    } else countKind(result.unknownKinds, kind);
  });
  return result;
}

/** Built only for what cannot be read. */
function pathOf(root: string, level: Level): string {
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

function toComment(data: z.infer<typeof threadComment>, postAuthor: string): Comment {
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

function parseThings(children: readonly unknown[], post: PostData): ThreadThings {
  const result: ThreadThings = { post, comments: [], leftOut: [], faults: [], unknownKinds: new Map() };
  walk(children, (child, { data: found }) => {
    const stub = found?.kind === 'more' ? moreStub.safeParse(found.data).data : undefined;
    if (stub !== undefined) {
      const { parent_id: parentId, children: childIds, count } = stub;
      result.leftOut.push({ parentId, childIds, count: Math.max(count, childIds.length) });
      return;
    }
    const parsed = parseThing(child, 'thread');
    if (parsed.outcome === 'fault') result.faults.push({ ...parsed.fault, raw: child });
    else if (parsed.outcome === 'unknown_kind') countKind(result.unknownKinds, parsed.kind);
    else if (parsed.thing.kind === 't1') {
      const { data } = parsed.thing;
      const { link_title: title = post.title, over_18: nsfw = post.over_18 } = data;
      result.comments.push({ ...data, link_title: title, over_18: nsfw });
    }
  });
  return result;
}
