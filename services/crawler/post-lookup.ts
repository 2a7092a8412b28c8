import { z } from 'zod';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { parseListing } from '../../shared/upstream/parsing/parse-things.ts';
import type { CommentData } from '../../shared/upstream/parsing/thing-schema.ts';
import type { PostOfComment } from '../../shared/upstream/parsing/thing-to-forum-item.ts';
import type { Upstream } from '../../shared/upstream/upstream-client.ts';
import { UpstreamError } from '../../shared/upstream/upstream-error.ts';
import type { RecentPosts } from './recent-posts.ts';

const IDS_PER_CALL = 100;
/** Between the first try and the second: a post can be younger than the forum's own caches. */
const SECOND_TRY_MS = 500;

/** Communities in an answer of /api/info; their flag stands in where a post cannot be had. */
const communities = z.object({
  data: z.object({ children: z.array(z.object({ kind: z.string(), data: z.unknown() })) }),
});
const community = z.object({ name: z.string(), over18: z.boolean() });

/** Asks the forum for the posts of comments that do not carry their title and NSFW flag, in batches. */
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
   * The posts of these comments by bare id. A post that cannot be had in two tries gets an empty title and its
   * community's NSFW flag; it is missing from the answer when that is unknown too. Never throws for the forum's sake.
   */
  async find(comments: readonly CommentData[], signal: AbortSignal): Promise<Map<string, PostOfComment>> {
    const found = new Map<string, PostOfComment>();
    const wanted = new Set(comments.map((comment) => comment.post_id));
    await this.ask(
      [...wanted].map((id) => `t3_${id}`),
      found,
      signal,
    );
    const missing = comments.filter((comment) => !found.has(comment.post_id));
    if (missing.length === 0) return found;
    await delay(SECOND_TRY_MS, signal);
    const names = missing.flatMap(({ post_id: post, subreddit_id: home }) => [`t3_${post}`, ...(home ? [home] : [])]);
    const flags = await this.ask([...new Set(names)], found, signal);
    for (const { post_id: post, subreddit_id: home } of missing) {
      const nsfw = home ? flags.get(home) : undefined;
      if (!found.has(post) && nsfw !== undefined) found.set(post, { title: '', nsfw });
    }
    return found;
  }

  /** Adds the posts to `found`; returns the NSFW flags of the communities by fullname. */
  private async ask(
    names: readonly string[],
    found: Map<string, PostOfComment>,
    signal: AbortSignal,
  ): Promise<Map<string, boolean>> {
    const flags = new Map<string, boolean>();
    for (let start = 0; start < names.length; start += IDS_PER_CALL) {
      const id = names.slice(start, start + IDS_PER_CALL).join(',');
      try {
        const body = await this.upstream.get('/api/info', { id }, { endpoint: 'info', lane: 'live', signal });
        for (const thing of parseListing(body).things) {
          if (thing.kind !== 't3') continue;
          this.posts.remember(thing);
          found.set(thing.data.id, { title: thing.data.title, nsfw: thing.data.over_18 });
        }
        for (const [name, nsfw] of communityFlags(body)) flags.set(name, nsfw);
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        this.logger.warn({ err: error, posts: names.length }, 'the posts of comments could not be asked for');
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
