import type { ParsedComments, ParsedThread } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import type { ReadPost } from '../../../../shared/upstream/parsing/post-schema.ts';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';
import type { HeldComments } from './comment-tree.ts';
import { HeldThread } from './held-thread.ts';
import { planExpansion } from './plan-expansion.ts';
import type { PlannedCall } from './plan-expansion.ts';
import { ThreadCalls } from './thread-calls.ts';
import type { ThreadCallDeps } from './thread-calls.ts';

export interface ExpandRequest extends ThreadCallDeps {
  /** Bare id. */
  postId: string;
  /** So many comments are enough; up to 2,000. More may be held in the end, since a call brings what it brings. */
  max: number;
}

export interface ExpandedComments {
  held: HeldComments;
  /**
   * False: it ended before there were enough, because of `failure` or for its number of calls; the rest can still be
   * had from `held`.
   */
  complete: boolean;
  failure: UpstreamError | undefined;
  /** Calls to the forum. */
  calls: number;
  /** Children of kinds that are not known, with how many there were. */
  unknownKinds: Map<string, number>;
}

export interface ReadThread extends ExpandedComments {
  post: ReadPost;
}

/**
 * Calls that one reading of up to `max` comments may make: a thread that names its comments by the hundred takes one
 * for each hundred, the most scattered ones met some three for each. What is not had then stays open.
 */
function mostCalls(max: number): number {
  return 12 + Math.ceil(max / 40);
}

const NOTHING: HeldComments = { comments: [], stubs: [], missing: [] };

/**
 * A post with at least `max` of its comments, or all there are.
 *
 * @throws UpstreamError when the first call fails, or the signal's reason; what fails later leaves a result that is not
 * complete
 */
export async function readThread(request: ExpandRequest): Promise<ReadThread> {
  const calls = new ThreadCalls(request, request.postId);
  const page = await calls.first();
  const held = new HeldThread(NOTHING);
  held.add(page, undefined);
  const expanded = await expand(held, { ...request, calls, postAuthor: page.post.author, page });
  return { post: page.post, ...expanded };
}

/**
 * Goes on from what is held until there are `max` comments or no more.
 *
 * @param postAuthor decides `is_submitter` where the forum does not say it
 * @throws the signal's reason; failures of the forum leave a result that is not complete
 */
export function expandComments(
  held: HeldComments,
  postAuthor: string,
  request: ExpandRequest,
): Promise<ExpandedComments> {
  const calls = new ThreadCalls(request, request.postId);
  return expand(new HeldThread(held), { max: request.max, calls, postAuthor, page: undefined });
}

/**
 * A comment with up to `context` comments above it and its direct replies; what is below those is left out. Without
 * `complete`, some of the replies are missing.
 *
 * @throws UpstreamError when the first call fails; not_found when there is no such comment in the thread; the signal's
 * reason
 */
export async function readAroundComment(
  commentId: string,
  context: number,
  request: ExpandRequest,
): Promise<ReadThread> {
  const calls = new ThreadCalls(request, request.postId);
  const page = await calls.around(commentId, context);
  const name = `t1_${commentId}`;
  const path = pathTo(page, name, context);
  const direct = directReplies(page, name);
  const held = new HeldThread(NOTHING);
  held.add({ comments: [...path, ...direct.comments], stubs: direct.stubs }, undefined);
  const { max } = request;
  const expanded = await expand(held, { max, calls, postAuthor: page.post.author, page, below: name });
  return { post: page.post, ...expanded };
}

interface Expansion {
  max: number;
  calls: ThreadCalls;
  postAuthor: string;
  /** What was read before. */
  page: ParsedThread | undefined;
  /** Fullname of the one comment whose direct replies are wanted. */
  below?: string;
}

async function expand(held: HeldThread, expansion: Expansion): Promise<ExpandedComments> {
  const { max, calls, page } = expansion;
  const unknownKinds = new Map(page?.unknownKinds);
  let failure: UpstreamError | undefined;
  const isOpen = (): boolean => held.size < max && held.hasOpenStubs;
  while (isOpen() && failure === undefined && calls.made < mostCalls(max)) {
    const planned = planExpansion(held.snapshot(), max - held.size);
    const answers = await Promise.allSettled(planned.map((call) => ask(call, expansion)));
    // In the order of the plan, not of arrival: siblings stay in the order of the page.
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'rejected') {
        failure ??= failureOf(answer.reason);
        continue;
      }
      held.add(answer.value, planned[index]);
      for (const [kind, count] of answer.value.unknownKinds) {
        unknownKinds.set(kind, (unknownKinds.get(kind) ?? 0) + count);
      }
    }
  }
  return {
    held: held.snapshot(),
    complete: failure === undefined && !isOpen(),
    failure,
    calls: calls.made,
    unknownKinds,
  };
}

async function ask({ parentId, childIds }: PlannedCall, expansion: Expansion): Promise<ParsedComments> {
  const { calls, postAuthor, below } = expansion;
  const found =
    childIds.length > 0
      ? await calls.children(childIds, postAuthor, below !== undefined)
      : await belowOrNothing(calls, parentId.slice(3));
  return below === undefined ? found : { ...found, ...directReplies(found, below) };
}

/** A comment that went meanwhile has nothing below it. */
async function belowOrNothing(calls: ThreadCalls, commentId: string): Promise<ParsedComments> {
  try {
    return await calls.below(commentId);
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.failure !== 'not_found') throw error;
    return { comments: [], stubs: [], unknownKinds: new Map() };
  }
}

function failureOf(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  throw error;
}

/** The named comment and up to `levels` above it, top first. */
function pathTo(page: ParsedThread, name: string, levels: number): ParsedThread['comments'] {
  const byName = new Map(page.comments.map((comment) => [`t1_${comment.id}`, comment]));
  const path: ParsedThread['comments'] = [];
  let next = byName.get(name);
  while (next !== undefined && path.length <= levels) {
    path.unshift(next);
    next = path.some(({ id }) => `t1_${id}` === next?.parent_id) ? undefined : byName.get(next.parent_id);
  }
  if (path.length > 0) return path;
  throw new UpstreamError('not_found', 'the forum has no such comment in this thread');
}

function directReplies(found: ParsedComments, name: string): Pick<ParsedComments, 'comments' | 'stubs'> {
  return {
    comments: found.comments.filter((comment) => comment.parent_id === name),
    stubs: found.stubs.filter((stub) => stub.parentId === name),
  };
}
