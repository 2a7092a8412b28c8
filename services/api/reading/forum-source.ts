import { z } from 'zod';
import type { CommentItem, ForumUser, Subreddit } from '../../../schemas/api/reading.ts';
import type { Post } from '../../../schemas/messages/forum-post.ts';
import {
  commentSchema,
  postSchema,
  rulesSchema,
  subredditSchema,
  toCommentItem,
  toForumUser,
  toPost,
  toSubreddit,
  userSchema,
} from '../../../shared/forum-client/forum-resources.ts';
import type { MappingOptions, UpstreamPost } from '../../../shared/forum-client/forum-resources.ts';
import { flag, optional, parseAnswer, parsePage } from '../../../shared/forum-client/parse-things.ts';
import type { ParsedPage, ShapeFault } from '../../../shared/forum-client/parse-things.ts';
import type { Upstream } from '../../../shared/forum-client/upstream-client.ts';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { ThreadCallDeps } from './expand-comments.ts';
import { leadsToAnother } from './reading-route.ts';

/** An item of a page and its NSFW flag. */
export interface Entry<T> {
  item: T;
  nsfw: boolean;
}

/** A page of the forum, unfiltered. */
export interface Page<T> {
  entries: Entry<T>[];
  /** Cursor of the next page; null at the end. */
  after: string | null;
  /** How many things are malformed, and left out. */
  malformed: number;
}

/** The things found for a list of fullnames, by fullname. */
export interface FoundThings {
  posts: Map<string, Post>;
  comments: Map<string, CommentItem>;
}

type Params = Record<string, string>;

/** Delays before two quick retries, within the call's own deadline. */
const RETRY_DELAYS_MS = [200, 800];
const IDS_PER_CALL = 100;
/** Per answer. */
const LOGGED_FAULTS = 5;

const nsfwProfile = z.object({ subreddit: optional(z.object({ over_18: flag })) });

export interface ForumSourceDeps {
  upstream: Pick<Upstream, 'get' | 'post'>;
  /** URL of the public site, without a trailing slash. */
  siteUrl: string;
  clock: Clock;
  logger: Logger;
  metrics: Pick<Metrics, 'readingMalformed'>;
}

const THREAD_DEADLINE_MS = 10_000;

/** The forum for the reading routes. Each method makes one or two calls and maps the result to the API's resources. */
export class ForumSource {
  private readonly options: ForumSourceDeps;

  constructor(options: ForumSourceDeps) {
    this.options = options;
  }

  /** Returns a source that makes its calls through another client. */
  through(upstream: ForumSourceDeps['upstream']): ForumSource {
    return new ForumSource({ ...this.options, upstream });
  }

  /**
   * Reads the posts of any listing or search.
   *
   * @param endpoint label for metrics
   * @throws UpstreamError
   */
  async posts(path: string, params: Params, endpoint: string): Promise<Page<Post>> {
    return this.toPosts(await this.get(path, params, endpoint), path, endpoint);
  }

  /**
   * Reads other posts of the same link, and crossposts.
   *
   * @throws UpstreamError
   */
  async duplicates(postId: string, params: Params): Promise<Page<Post>> {
    const path = `/duplicates/${postId}`;
    const answer = await this.get(path, params, '/duplicates/ID');
    const [, listing] = parseAnswer(z.tuple([z.unknown(), z.unknown()]), answer);
    return this.toPosts(listing, path, '/duplicates/ID');
  }

  /**
   * Reads the comments of a listing, with the titles of their posts. A comment without an NSFW flag counts as NSFW.
   *
   * @throws UpstreamError
   */
  async comments(path: string, params: Params, endpoint: string): Promise<Page<CommentItem>> {
    const page = parsePage(await this.get(path, params, endpoint), { t1: commentSchema });
    return this.toPage(page, path, endpoint, ({ data }) => ({
      item: toCommentItem(data, this.context()),
      nsfw: data.over_18 ?? true,
    }));
  }

  /** @throws UpstreamError */
  async subreddits(path: string, params: Params, endpoint: string): Promise<Page<Subreddit>> {
    const page = parsePage(await this.get(path, params, endpoint), { t5: subredditSchema });
    return this.toPage(page, path, endpoint, ({ data }) => ({
      item: toSubreddit(data, this.context()),
      nsfw: data.over18,
    }));
  }

  /** @throws UpstreamError */
  async users(path: string, params: Params, endpoint: string): Promise<Page<ForumUser>> {
    const page = parsePage(await this.get(path, params, endpoint), { t2: userSchema.extend(nsfwProfile.shape) });
    return this.toPage(page, path, endpoint, ({ data }) => ({
      item: toForumUser(data),
      nsfw: data.subreddit?.over_18 ?? false,
    }));
  }

  /**
   * Reads a community with its rules. Some communities have none.
   *
   * @throws UpstreamError
   */
  async subreddit(name: string): Promise<Subreddit> {
    const [about, rules] = await Promise.all([
      this.get(`/r/${name}/about`, {}, '/r/NAME/about'),
      this.get(`/r/${name}/about/rules`, {}, '/r/NAME/about/rules').catch((error: unknown) => {
        if (error instanceof UpstreamError && error.status === 404) return undefined;
        throw error;
      }),
    ]);
    const { data } = parseAnswer(z.object({ kind: z.literal('t5'), data: subredditSchema }), about);
    return toSubreddit(data, this.context(), rulesSchema.parse(rules));
  }

  /** @throws UpstreamError */
  async user(name: string): Promise<ForumUser> {
    const answer = await this.get(`/user/${name}/about`, {}, '/user/NAME/about');
    return toForumUser(parseAnswer(z.object({ kind: z.literal('t2'), data: userSchema }), answer).data);
  }

  /**
   * Creates the dependencies of one request about a thread. Its calls share one deadline.
   *
   * @param signal aborts the calls
   */
  threadCalls(signal?: AbortSignal): ThreadCallDeps {
    const { upstream, clock } = this.options;
    const call = { lane: 'reading', retryDelaysMs: RETRY_DELAYS_MS, ...(signal && { signal }) } as const;
    return { upstream, clock, deadlineAt: clock() + THREAD_DEADLINE_MS, call };
  }

  post(data: UpstreamPost): Post {
    return toPost(data, this.context());
  }

  /**
   * Looks up fullnames, at most 100. One further call reads the posts of comments that lack their post's title.
   *
   * @throws UpstreamError
   */
  async things(names: readonly string[]): Promise<FoundThings> {
    const found = await this.info(names);
    const withoutPost = found.comments.filter(({ data }) => !data.link_title || typeof data.is_submitter !== 'boolean');
    const unknown = new Set(
      withoutPost.map(({ data }) => `t3_${data.post_id}`).filter((name) => !found.posts.has(name)),
    );
    const others = await this.info([...unknown]);
    const comments = new Map(
      found.comments.map(({ data }) => {
        const name = `t3_${data.post_id}`;
        return [`t1_${data.id}`, toCommentItem(data, this.context(), found.posts.get(name) ?? others.posts.get(name))];
      }),
    );
    return { posts: found.posts, comments };
  }

  /**
   * Looks up comments by fullname, at most 100, without the titles of their posts.
   *
   * @throws UpstreamError
   */
  async commentsById(
    names: readonly string[],
  ): Promise<Pick<FoundThings, 'comments'> & Pick<Page<never>, 'malformed'>> {
    const { comments, malformed } = await this.info(names);
    const items = comments.map(({ data }) => [`t1_${data.id}`, toCommentItem(data, this.context())] as const);
    return { comments: new Map(items), malformed };
  }

  /** Counts what is malformed, and logs where it was and why, but not the item: it may have megabytes. */
  report(path: string, endpoint: string, faults: readonly ShapeFault[]): void {
    if (faults.length === 0) return;
    this.options.metrics.readingMalformed.inc({ endpoint }, faults.length);
    this.options.logger.warn(
      {
        path,
        count: faults.length,
        faults: faults.slice(0, LOGGED_FAULTS).map(({ path: at, message }) => ({ path: at, message })),
      },
      'items of the forum cannot be read and are omitted',
    );
  }

  /**
   * Finds the target of a forum link that only the forum can resolve.
   *
   * @returns the URL that it redirects to; undefined when it does not redirect
   * @throws UpstreamError
   */
  async redirectTarget(path: string): Promise<string | undefined> {
    try {
      await this.call(path, {}, '/r/NAME/s/CODE');
      return undefined;
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.failure !== 'moved') throw error;
      const { location } = error;
      if (location === undefined || !URL.canParse(location, this.options.siteUrl)) throw error;
      return new URL(location, this.options.siteUrl).href;
    }
  }

  private toPosts(listing: unknown, path: string, endpoint: string): Page<Post> {
    const page = parsePage(listing, { t3: postSchema });
    return this.toPage(page, path, endpoint, ({ data }) => ({
      item: toPost(data, this.context()),
      nsfw: data.over_18,
    }));
  }

  private toPage<C, T>(
    { children, after, faults }: ParsedPage<C>,
    path: string,
    endpoint: string,
    toEntry: (child: C) => Entry<T>,
  ): Page<T> {
    this.report(path, endpoint, faults);
    return { entries: children.map(toEntry), after, malformed: faults.length };
  }

  private async info(names: readonly string[]) {
    const posts = new Map<string, Post>();
    if (names.length === 0) return { posts, comments: [], malformed: 0 };
    const answer = await this.get('/api/info', { id: names.slice(0, IDS_PER_CALL).join(',') }, '/api/info');
    const page = parsePage(answer, { t1: commentSchema, t3: postSchema });
    for (const child of page.children) {
      if (child.kind === 't3') posts.set(`t3_${child.data.id}`, toPost(child.data, this.context()));
    }
    this.report('/api/info', '/api/info', page.faults);
    const comments = page.children.filter((child) => child.kind === 't1');
    return { posts, comments, malformed: page.faults.length };
  }

  private async get(path: string, params: Params, endpoint: string): Promise<unknown> {
    try {
      return await this.call(path, params, endpoint);
    } catch (error) {
      if (!leadsToAnother(path, error)) throw error;
      throw new UpstreamError('not_found', 'the forum leads from this name to another', { cause: error });
    }
  }

  private call(path: string, params: Params, endpoint: string): Promise<unknown> {
    return this.options.upstream.get(path, params, { endpoint, lane: 'reading', retryDelaysMs: RETRY_DELAYS_MS });
  }

  private context(): MappingOptions {
    return { siteUrl: this.options.siteUrl, now: this.options.clock() };
  }
}
