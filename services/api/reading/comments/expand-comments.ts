import type { ParsedComments, ParsedThread } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import type { ShapeFault } from '../../../../shared/upstream/parsing/parse-things.ts';
import type { UpstreamPost } from '../../../../shared/upstream/parsing/to-post.ts';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';
import type { LoadedComments } from './comment-tree.ts';
import { ThreadAccumulator } from './thread-accumulator.ts';
import { planExpansion } from './plan-expansion.ts';
import type { PlannedCall } from './plan-expansion.ts';
import { ThreadCalls } from './thread-calls.ts';
import type { ThreadCallDeps } from './thread-calls.ts';

export interface ExpandRequest extends ThreadCallDeps {
  /** Bare id. */
  postId: string;
  /**
   * Number of comments to load, up to 2,000. The result may have more, because the last call may return more than
   * needed.
   */
  max: number;
}

export interface ExpandedComments {
  loaded: LoadedComments;
  /**
   * False when loading ended early, because of `failure` or of the limit of calls. The rest can be loaded later from
   * `loaded`.
   */
  complete: boolean;
  failure: UpstreamError | undefined;
  /** Number of calls to the forum. */
  calls: number;
  /** Children of unknown kinds, with their counts. */
  unknownKinds: Map<string, number>;
  /** What cannot be read. */
  faults: ShapeFault[];
}

export interface ReadThread extends ExpandedComments {
  post: UpstreamPost;
}

/**
 * Limit of calls for one read of up to `max` comments. A thread that names its comments by the hundred takes one call
 * for each hundred; the most scattered threads seen take about three. Comments beyond the limit stay open stubs.
 */
function maxCalls(max: number): number {
  return 12 + Math.ceil(max / 40);
}

const NOTHING_LOADED: LoadedComments = { comments: [], stubs: [], missing: [] };

/**
 * Reads a post with at least `max` of its comments, or all there are.
 *
 * @throws UpstreamError when the first call fails, or the signal's reason; a later failure returns an incomplete result
 */
export async function readThread(request: ExpandRequest): Promise<ReadThread> {
  const calls = new ThreadCalls(request, request.postId);
  const page = await calls.first();
  const loaded = new ThreadAccumulator(NOTHING_LOADED);
  loaded.add(page, undefined);
  const expanded = await expand(loaded, { ...request, calls, postAuthor: page.post.author, page });
  return { post: page.post, ...expanded };
}

/**
 * Continues from the loaded comments until there are `max` comments or no more.
 *
 * @param postAuthor decides `is_submitter` where the forum does not send it
 * @throws the signal's reason; failures of the forum return an incomplete result
 */
export function expandComments(
  loaded: LoadedComments,
  postAuthor: string,
  request: ExpandRequest,
): Promise<ExpandedComments> {
  const calls = new ThreadCalls(request, request.postId);
  return expand(new ThreadAccumulator(loaded), { max: request.max, calls, postAuthor, page: undefined });
}

/**
 * Reads a comment with its direct replies and up to `context` comments above it. Deeper replies are left out. When
 * `complete` is false, some direct replies are missing.
 *
 * @throws UpstreamError when the first call fails; not_found when the thread has no such comment; the signal's reason
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
  const loaded = new ThreadAccumulator(NOTHING_LOADED);
  loaded.add({ comments: [...path, ...direct.comments], stubs: direct.stubs }, undefined);
  const { max } = request;
  const expanded = await expand(loaded, { max, calls, postAuthor: page.post.author, page, below: name });
  return { post: page.post, ...expanded };
}

interface Expansion {
  max: number;
  calls: ThreadCalls;
  postAuthor: string;
  /** The page that was read first. */
  page: ParsedThread | undefined;
  /** Fullname of the comment whose direct replies are requested. */
  below?: string;
}

async function expand(loaded: ThreadAccumulator, expansion: Expansion): Promise<ExpandedComments> {
  const { max, calls, page } = expansion;
  const unknownKinds = new Map(page?.unknownKinds);
  const faults = [...(page?.faults ?? [])];
  let failure: UpstreamError | undefined;
  const isOpen = (): boolean => loaded.size < max && loaded.hasOpenStubs;
  while (isOpen() && failure === undefined && calls.callCount < maxCalls(max)) {
    const planned = planExpansion(loaded.snapshot(), max - loaded.size);
    const answers = await Promise.allSettled(planned.map((call) => ask(call, expansion)));
    // In plan order, not arrival order, so that siblings stay in page order.
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'rejected') {
        failure ??= failureOf(answer.reason);
        continue;
      }
      loaded.add(answer.value, planned[index]);
      faults.push(...answer.value.faults);
      for (const [kind, count] of answer.value.unknownKinds) {
        unknownKinds.set(kind, (unknownKinds.get(kind) ?? 0) + count);
      }
    }
  }
  return {
    loaded: loaded.snapshot(),
    complete: failure === undefined && !isOpen(),
    failure,
    calls: calls.callCount,
    unknownKinds,
    faults,
  };
}

async function ask({ parentId, childIds }: PlannedCall, expansion: Expansion): Promise<ParsedComments> {
  const { calls, postAuthor, below } = expansion;
  const found =
    childIds.length > 0
      ? await calls.children(childIds, postAuthor, below !== undefined)
      : await repliesBelow(calls, parentId.slice(3));
  return below === undefined ? found : { ...found, ...directReplies(found, below) };
}

/** A comment that was deleted meanwhile has no replies. */
async function repliesBelow(calls: ThreadCalls, commentId: string): Promise<ParsedComments> {
  try {
    return await calls.below(commentId);
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.failure !== 'not_found') throw error;
    return { comments: [], stubs: [], unknownKinds: new Map(), faults: [] };
  }
}

function failureOf(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  throw error;
}

/** The named comment and up to `levels` comments above it, top first. */
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
