import type { Comment } from '../../../schemas/messages/forum-post.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { parseMoreChildren, parseThread } from '../../../shared/forum-client/parse-comment-tree.ts';
import type { MoreStub, ParsedComments, ParsedThread } from '../../../shared/forum-client/parse-comment-tree.ts';
import type { ShapeFault } from '../../../shared/forum-client/parse-things.ts';
import type { UpstreamPost } from '../../../shared/forum-client/forum-resources.ts';
import type { Upstream, UpstreamCall } from '../../../shared/forum-client/upstream-client.ts';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import { buildCommentTree, inPageOrder } from './comment-tree.ts';
import type { LoadedComments } from './comment-tree.ts';

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
  calls: number;
  /** Children of unknown kinds, with their counts. */
  unknownKinds: Map<string, number>;
  /** The malformed parts of the answers. */
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

/** The forum refuses a call with more ids. */
const CHILDREN_PER_CALL = 100;
const CALLS_AT_ONCE = 4;

/** One call: for comments by their ids, or, without ids, for the replies of the parent. */
type PlannedCall = MoreStub;

/**
 * Plans the next calls, at most four. Stubs of upper levels come first, within a level those below higher scores, then
 * in the order found. Ids of several stubs share a call. Another call is planned only while the calls before it may
 * return fewer than `need` comments, at one comment per id. The last call is filled up.
 */
function planExpansion(loaded: LoadedComments, need: number): PlannedCall[] {
  const calls: { parentId: string; childIds: string[] }[] = [];
  const planned = new Set<string>();
  let expected = 0;
  let batch: string[] | undefined;
  const mayOpen = (): boolean => calls.length < CALLS_AT_ONCE && expected < need;
  for (const { parentId, childIds } of byPriority(loaded)) {
    if (childIds.length === 0) {
      if (!mayOpen()) continue;
      calls.push({ parentId, childIds: [] });
      expected++;
    }
    for (const id of childIds) {
      if (planned.has(id)) continue;
      if (batch === undefined || batch.length === CHILDREN_PER_CALL) {
        if (!mayOpen()) return calls;
        batch = [];
        calls.push({ parentId, childIds: batch });
      }
      planned.add(id);
      batch.push(id);
      expected++;
    }
  }
  return calls;
}

function byPriority(loaded: LoadedComments): MoreStub[] {
  const ranks = new Map<string, { level: number; score: number }>();
  for (const { id, depth, score } of inPageOrder(buildCommentTree(loaded, Infinity).comments)) {
    ranks.set(`t1_${id}`, { level: depth + 1, score });
  }
  const rankOf = ({ parentId }: MoreStub) =>
    ranks.get(parentId) ?? { level: parentId.startsWith('t3_') ? 0 : Number.MAX_SAFE_INTEGER, score: 0 };
  return loaded.stubs
    .map((stub) => ({ stub, rank: rankOf(stub) }))
    .sort((a, b) => a.rank.level - b.rank.level || b.rank.score - a.rank.score)
    .map(({ stub }) => stub);
}

/** The forum's maximum. Without a depth parameter the forum also uses its maximum depth. */
const COMMENTS_PER_CALL = '500';
/** The order in which readers see comments, and in which stubs list them. */
const SORT = 'confidence';

export interface ThreadCallDeps {
  upstream: Pick<Upstream, 'get' | 'post'>;
  clock: Clock;
  /** Milliseconds since 1970. Every call ends by then. */
  deadlineAt: number;
  /** Lane, retries and signal of every call. */
  call: Omit<UpstreamCall, 'endpoint' | 'deadlineMs'>;
}

/** Makes the calls about one thread, within one deadline. Each throws UpstreamError, or the signal's reason. */
class ThreadCalls {
  callCount = 0;
  private readonly options: ThreadCallDeps;
  private readonly path: string;
  private readonly postId: string;

  constructor(options: ThreadCallDeps, postId: string) {
    this.options = options;
    this.path = `/comments/${encodeURIComponent(postId)}`;
    this.postId = postId;
  }

  /** The post with its first comments. */
  async first(): Promise<ParsedThread> {
    return parseThread(await this.get(this.path, {}, '/comments/ID'));
  }

  /** A comment with everything below it and `context` levels above it. */
  async around(commentId: string, context: number): Promise<ParsedThread> {
    const params = { comment: commentId, context: String(context) };
    return parseThread(await this.get(this.path, params, '/comments/ID?comment'));
  }

  /** Continues a thread below a comment: returns the comment again and everything below it. */
  async below(commentId: string): Promise<ParsedThread> {
    return parseThread(await this.get(`${this.path}/_/${encodeURIComponent(commentId)}`, {}, '/comments/ID/_/CID'));
  }

  /**
   * Fetches comments that stubs name, at most 100.
   *
   * @param withoutReplies whether the replies below them are left out
   */
  async children(ids: readonly string[], postAuthor: string, withoutReplies: boolean): Promise<ParsedComments> {
    const form = {
      api_type: 'json',
      link_id: `t3_${this.postId}`,
      children: ids.join(','),
      limit_children: String(withoutReplies),
      sort: SORT,
    };
    const { upstream } = this.options;
    return parseMoreChildren(
      await upstream.post('/api/morechildren', form, this.next('/api/morechildren')),
      postAuthor,
    );
  }

  private get(path: string, params: Record<string, string>, endpoint: string): Promise<unknown> {
    const { upstream } = this.options;
    return upstream.get(path, { limit: COMMENTS_PER_CALL, sort: SORT, ...params }, this.next(endpoint));
  }

  private next(endpoint: string): UpstreamCall {
    const { clock, deadlineAt, call } = this.options;
    const deadlineMs = deadlineAt - clock();
    if (deadlineMs <= 0) throw new UpstreamError('timeout', 'the deadline left no time for another call to the forum');
    this.callCount++;
    return { ...call, endpoint, deadlineMs };
  }
}

/**
 * Collects the comments of a thread while more of it is fetched. It requests nothing twice, whatever the forum answers,
 * so the ids that the forum names bound the number of calls.
 */
class ThreadAccumulator {
  private readonly comments: Comment[];
  private readonly ids: Set<string>;
  private stubs: MoreStub[];
  /** Parents of comments that were requested and not returned, by bare id. */
  private readonly missing: Map<string, string>;
  /** Fullnames of comments whose replies were requested. */
  private readonly followed = new Set<string>();

  constructor(loaded: LoadedComments) {
    this.comments = [...loaded.comments];
    this.ids = new Set(this.comments.map(({ id }) => id));
    this.stubs = [...loaded.stubs];
    this.missing = new Map(loaded.missing.map(({ id, parentId }) => [id, parentId]));
  }

  get size(): number {
    return this.ids.size;
  }

  get hasOpenStubs(): boolean {
    return this.stubs.length > 0;
  }

  snapshot(): LoadedComments {
    const missing = [...this.missing].map(([id, parentId]) => ({ id, parentId }));
    return { comments: [...this.comments], stubs: [...this.stubs], missing };
  }

  /** Adds the answer to `requested` and closes that stub. Ids that it named and the answer lacks become missing. */
  add(found: Pick<ParsedComments, 'comments' | 'stubs'>, requested: MoreStub | undefined): void {
    for (const comment of found.comments) {
      if (this.ids.has(comment.id)) continue;
      this.ids.add(comment.id);
      this.missing.delete(comment.id);
      this.comments.push(comment);
    }
    if (requested?.childIds.length === 0) this.followed.add(requested.parentId);
    const named = new Set(requested?.childIds);
    for (const { parentId, childIds } of this.stubs) {
      for (const id of childIds) if (named.has(id) && !this.ids.has(id)) this.missing.set(id, parentId);
    }
    this.stubs = [...this.stubs, ...found.stubs].flatMap((stub) => this.stillOpen(stub));
  }

  private stillOpen(stub: MoreStub): MoreStub[] {
    if (stub.childIds.length === 0) {
      const isOpen = stub.parentId.startsWith('t1_') && !this.followed.has(stub.parentId);
      return isOpen ? [stub] : [];
    }
    const childIds = stub.childIds.filter((id) => !this.ids.has(id) && !this.missing.has(id));
    return childIds.length === 0 ? [] : [{ parentId: stub.parentId, childIds }];
  }
}
