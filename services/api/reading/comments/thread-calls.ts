import type { Clock } from '../../../../shared/runtime/clock.ts';
import { parseMoreChildren, parseThread } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import type { ParsedComments, ParsedThread } from '../../../../shared/upstream/parsing/parse-comment-tree.ts';
import type { Upstream, UpstreamCall } from '../../../../shared/upstream/upstream-client.ts';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';

/** The most that the forum gives at once. It also limits the depth, unless asked for less, to what it gives at most. */
const COMMENTS_PER_CALL = '500';
/** The order in which readers see comments, and in which stubs name them. */
const SORT = 'confidence';

export interface ThreadCallDeps {
  upstream: Pick<Upstream, 'get' | 'post'>;
  clock: Clock;
  /** Milliseconds since 1970: no call goes on longer. */
  deadlineAt: number;
  /** Lane, retries and signal of every call. */
  call: Omit<UpstreamCall, 'endpoint' | 'deadlineMs'>;
}

/** The calls about one thread, within one deadline. Each throws UpstreamError, or the signal's reason. */
export class ThreadCalls {
  /** Calls made so far. */
  made = 0;
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

  /** A comment, `context` levels above it and what is below it. */
  async around(commentId: string, context: number): Promise<ParsedThread> {
    const params = { comment: commentId, context: String(context) };
    return parseThread(await this.get(this.path, params, '/comments/ID?comment'));
  }

  /** Where a thread goes on below a comment: the comment again, and what is below it. */
  async below(commentId: string): Promise<ParsedThread> {
    return parseThread(await this.get(`${this.path}/_/${encodeURIComponent(commentId)}`, {}, '/comments/ID/_/CID'));
  }

  /**
   * Comments that stubs named, at most 100.
   *
   * @param alone without the comments below them
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
    if (deadlineMs <= 0) throw new UpstreamError('timeout', 'there was no time left for another call to the forum');
    this.made++;
    return { ...call, endpoint, deadlineMs };
  }
}
