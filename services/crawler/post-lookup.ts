import { z } from 'zod';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { parseListing } from '../../shared/forum-client/parse-things.ts';
import type { CommentData } from '../../shared/forum-client/thing-schema.ts';
import type { PostOfComment } from '../../shared/forum-client/thing-to-forum-item.ts';
import type { Upstream } from '../../shared/forum-client/upstream-client.ts';
import { UpstreamError } from '../../shared/forum-client/upstream-error.ts';
import { whenBudgetAllows } from '../../shared/forum-client/patient-upstream.ts';
import type { RecentPosts } from './seen-things.ts';

const IDS_PER_CALL = 100;
/** The pause before the second attempt: the forum's own caches may not know a new post yet. */
const SECOND_TRY_MS = 500;
/** How long an attempt waits for our own budget of calls, which is no answer of the forum. */
const BUDGET_WAIT_MS = 5_000;

/** Communities in a response of /api/info. A community's NSFW flag replaces that of a post that cannot be fetched. */
const communities = z.object({
  data: z.object({ children: z.array(z.object({ kind: z.string(), data: z.unknown() })) }),
});
const community = z.object({ name: z.string(), over18: z.boolean() });

/** Fetches, in batches, the posts of comments that do not carry the title and NSFW flag of their post. */
export class PostLookup {
  private readonly upstream: Pick<Upstream, 'get'>;
  private readonly posts: RecentPosts;
  private readonly logger: Logger;

  constructor(upstream: Pick<Upstream, 'get'>, posts: RecentPosts, logger: Logger) {
    this.upstream = upstream;
    this.posts = posts;
    this.logger = logger;
  }

  /**
   * Returns the posts of these comments by bare id. A post that cannot be fetched in two attempts gets an empty title
   * and its community's NSFW flag; if that is unknown too, the post is missing from the result. Failures of the forum
   * are logged, not thrown.
   */
  async find(comments: readonly CommentData[], signal: AbortSignal): Promise<Map<string, PostOfComment>> {
    const found = new Map<string, PostOfComment>();
    const postIds = new Set(comments.map((comment) => comment.post_id));
    await this.fetch(
      [...postIds].map((id) => `t3_${id}`),
      found,
      signal,
    );
    const missing = comments.filter((comment) => !found.has(comment.post_id));
    if (missing.length === 0) return found;
    await delay(SECOND_TRY_MS, signal);
    const names = missing.flatMap(({ post_id: post, subreddit_id: home }) => [`t3_${post}`, ...(home ? [home] : [])]);
    const flags = await this.fetch([...new Set(names)], found, signal);
    for (const { post_id: post, subreddit_id: home } of missing) {
      const nsfw = home ? flags.get(home) : undefined;
      if (!found.has(post) && nsfw !== undefined) found.set(post, { title: '', nsfw });
    }
    return found;
  }

  private call(id: string, signal: AbortSignal): Promise<unknown> {
    const call = { endpoint: 'info', lane: 'live', signal } as const;
    return whenBudgetAllows(() => this.upstream.get('/api/info', { id }, call), { maxWaitMs: BUDGET_WAIT_MS, signal });
  }

  /** Adds the posts to `found`; returns the NSFW flags of the communities by fullname. */
  private async fetch(
    names: readonly string[],
    found: Map<string, PostOfComment>,
    signal: AbortSignal,
  ): Promise<Map<string, boolean>> {
    const flags = new Map<string, boolean>();
    for (let start = 0; start < names.length; start += IDS_PER_CALL) {
      const id = names.slice(start, start + IDS_PER_CALL).join(',');
      try {
        const body = await this.call(id, signal);
        for (const thing of parseListing(body).things) {
          if (thing.kind !== 't3') continue;
          this.posts.remember(thing);
          found.set(thing.data.id, { title: thing.data.title, nsfw: thing.data.over_18 });
        }
        for (const [name, nsfw] of communityFlags(body)) flags.set(name, nsfw);
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        this.logger.warn({ err: error, posts: names.length }, 'the posts of comments could not be fetched');
      }
    }
    return flags;
  }
}

function communityFlags(body: unknown): [string, boolean][] {
  const answer = communities.safeParse(body);
  if (!answer.success) return [];
  return answer.data.data.children.flatMap((child): [string, boolean][] => {
    const parsed = community.safeParse(child.data);
    return child.kind === 't5' && parsed.success ? [[parsed.data.name, parsed.data.over18]] : [];
  });
}
