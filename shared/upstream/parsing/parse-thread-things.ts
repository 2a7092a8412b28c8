import { z } from 'zod';
import { bareId, fullname } from '../../../schemas/messages/forum-item.ts';
import { moreChildrenAnswer, threadAnswer, threadNode, withReplies } from './comment-tree-schema.ts';
import { count, readable } from './field-schemas.ts';
import { parseAnswer } from './parse-page.ts';
import { parseThing } from './parse-things.ts';
import type { ChildFault } from './parse-things.ts';
import type { CommentData, PostData } from './thing-schema.ts';
import { UpstreamError } from '../upstream-error.ts';

/** Comments that the forum left out of a thread. */
export interface LeftOut {
  /** Fullname of the post or comment that they reply to. */
  parentId: string;
  /** Bare ids of direct replies. Empty: the thread continues below the parent. */
  childIds: readonly string[];
  /** How many comments it stands for, with the replies below them, as the forum counts. */
  count: number;
}

export interface ThreadThings {
  post: PostData;
  comments: CommentData[];
  leftOut: LeftOut[];
  /** Comments of unknown shape; what is below them is parsed all the same. */
  faults: ChildFault[];
  unknownKinds: Map<string, number>;
}

const more = z.object({
  children: readable(bareId),
  parent_id: fullname,
  count,
});

/**
 * Parses a response of /comments/ID for the crawler: each comment as in a listing, with the title and the NSFW flag of
 * its post. A comment of unknown shape does not hide the others.
 *
 * @throws UpstreamError broken when the response or its post has an unknown shape, not_found when it has no post
 */
export function parseThreadThings(answer: unknown): ThreadThings {
  const [posts, comments] = parseAnswer(threadAnswer, answer);
  const first = posts.data.children[0];
  if (first === undefined) throw new UpstreamError('not_found', "the forum's thread has no post");
  const parsed = parseThing(first, '0.data.children.0');
  if (parsed.outcome !== 'thing' || parsed.thing.kind !== 't3') {
    throw new UpstreamError('broken', 'the post of a thread has an unknown shape', { reason: 'shape' });
  }
  return readChildren(comments.data.children, parsed.thing.data);
}

/**
 * Parses a response of /api/morechildren in the same way.
 *
 * @throws UpstreamError broken when the response has an unknown shape
 */
export function parseMoreThings(answer: unknown, post: PostData): ThreadThings {
  return readChildren(parseAnswer(moreChildrenAnswer, answer).json.data.things, post);
}

function readChildren(children: readonly unknown[], post: PostData): ThreadThings {
  const result: ThreadThings = { post, comments: [], leftOut: [], faults: [], unknownKinds: new Map() };
  const waiting = [...children];
  for (let child = waiting.pop(); child !== undefined; child = waiting.pop()) {
    const node = threadNode.safeParse(child).data;
    for (const reply of withReplies.safeParse(node?.data).data?.replies.data.children ?? []) waiting.push(reply);
    addChild(child, node, result);
  }
  return result;
}

function addChild(child: unknown, node: z.infer<typeof threadNode> | undefined, result: ThreadThings): void {
  const stub = node?.kind === 'more' ? more.safeParse(node.data).data : undefined;
  if (stub !== undefined) {
    const { parent_id: parentId, children: childIds, count } = stub;
    result.leftOut.push({ parentId, childIds, count: Math.max(count, childIds.length) });
    return;
  }
  const parsed = parseThing(child, 'thread');
  if (parsed.outcome === 'fault') {
    result.faults.push({ ...parsed.fault, raw: child });
  } else if (parsed.outcome === 'unknown_kind') {
    result.unknownKinds.set(parsed.kind, (result.unknownKinds.get(parsed.kind) ?? 0) + 1);
  } else if (parsed.thing.kind === 't1') {
    const { title, over_18 } = result.post;
    const { data } = parsed.thing;
    result.comments.push({ ...data, link_title: data.link_title ?? title, over_18: data.over_18 ?? over_18 });
  }
}
