import type { Clock } from '../../../../shared/runtime/clock.ts';
import { parseMoreChildren, parseThread } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import type { ParsedComments, ParsedThread } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import type { Upstream, UpstreamCall } from '../../../../shared/upstream/upstream-client.ts';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';

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
export class ThreadCalls {
  /** Number of calls made. */
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
   * @param alone without the replies below them
   */
  async children(ids: readonly string[], postAuthor: string, alone: boolean): Promise<ParsedComments> {
    const form = {
      api_type: 'json',
      link_id: `t3_${this.postId}`,
      children: ids.join(','),
      limit_children: String(alone),
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
