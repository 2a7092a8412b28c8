import type { CacheTier, Post } from '../../../schemas/messages/forum-post.ts';
import { CachedReads } from './cached-reads.ts';
import type { DiskCache } from './cached-reads.ts';
import { SingleFlight } from '../../../shared/runtime/single-flight.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { LoadedComments } from './comment-tree.ts';
import { expandComments, readAroundComment, readThread } from './expand-comments.ts';
import type { ExpandedComments, ReadThread } from './expand-comments.ts';
import type { ForumSource } from './forum-source.ts';
import { isForumUnavailable, negativeForMs } from './reading-route.ts';

/** A post with the comments loaded so far. Plain data that caches share, so it must not be changed. */
export interface LoadedPost {
  /** The post without comments. */
  post: Post;
  loaded: LoadedComments;
}

export interface PostRead extends LoadedPost {
  tier: CacheTier;
  /** When its oldest part was fetched, milliseconds since 1970. */
  fetchedAtMs: number;
}

/** What to read. When the signal aborts and nobody else waits for the same read, no further call is made. */
export interface ThreadRequest {
  /** Bare id. */
  postId: string;
  /** Number of comments to load, if the post has as many. */
  max: number;
  signal?: AbortSignal | undefined;
}

export interface PostReaderDeps {
  clock: Clock;
  memoryBytes: number;
  /** undefined: posts are cached in memory only. */
  disk: DiskCache | undefined;
  logger: Logger;
  /** Called with the bytes in memory when they change. */
  onBytes?: (bytes: number) => void;
}

const DAY_MS = 86_400_000;
const YOUNG_FRESH_FOR_MS = 60_000;
const OLD_FRESH_FOR_MS = 600_000;

/** Reads posts through the caches. A read that needs more comments than are cached fetches only the missing ones. */
export class PostReader {
  private readonly reads: CachedReads<LoadedPost>;
  private readonly expansions = new SingleFlight<LoadedPost>();
  private readonly logger: Logger;

  constructor({ clock, memoryBytes, disk, logger, onBytes }: PostReaderDeps) {
    this.logger = logger;
    this.reads = new CachedReads<LoadedPost>({
      clock,
      memoryBytes,
      onBytes,
      // The comments of a post younger than a day change by the minute.
      freshForMs: ({ post }, fetchedAtMs) =>
        fetchedAtMs - Date.parse(post.created_at) < DAY_MS ? YOUNG_FRESH_FOR_MS : OLD_FRESH_FOR_MS,
      mayServeStale: isForumUnavailable,
      negativeForMs,
      ...(disk === undefined ? {} : { disk: { cache: disk, serialize, deserialize } }),
    });
  }

  get memoryUse(): { bytes: number; entries: number } {
    return this.reads.memoryUse;
  }

  /**
   * Reads a post with at least `max` comments. It has fewer when the post has fewer, or when the rest could not be
   * fetched in time.
   *
   * @throws UpstreamError when the first page could not be fetched
   */
  async read(source: ForumSource, { postId, max, signal }: ThreadRequest): Promise<PostRead> {
    const { deadlineAt } = source.threadCalls();
    // Only the first page, so that no request waits for comments that only another one needs.
    const fetch = async (abandoned: AbortSignal) =>
      this.toLoadedPost(source, await readThread({ ...source.threadCalls(abandoned), postId, max: 0 }));
    const { value, tier, fetchedAtMs } = await this.reads.read(postId, fetch, signal);
    const { post, loaded } = value;
    if (loaded.comments.length >= max || loaded.stubs.length === 0) return { ...value, tier, fetchedAtMs };
    const expand = async (abandoned: AbortSignal) => {
      const request = { ...source.threadCalls(abandoned), deadlineAt, postId, max };
      const expanded = await expandComments(loaded, post.author, request);
      this.logProblems(source, postId, expanded);
      if (expanded.failure && isAsLong(expanded.loaded, loaded)) return value;
      const larger = { post, loaded: expanded.loaded };
      this.reads.put(postId, larger, fetchedAtMs);
      return larger;
    };
    const more = await this.expansions.run(`${postId} ${max}`, expand, signal);
    return { ...more, tier: tier === 'MISS' || more.loaded === loaded ? tier : 'PARTIAL', fetchedAtMs };
  }

  /**
   * Reads a comment of a post with its direct replies and `context` levels above it, as far as `max` has room for them.
   *
   * @throws UpstreamError not_found when the post has no such comment
   */
  async readAround(
    source: ForumSource,
    { postId, commentId, context, max, signal }: ThreadRequest & { commentId: string; context: number },
  ): Promise<PostRead> {
    // The comment itself goes before its ancestors.
    const levels = Math.min(context, Math.max(0, max - 1));
    const fetch = async (abandoned: AbortSignal) => {
      const request = { ...source.threadCalls(abandoned), postId, max };
      const read = this.toLoadedPost(source, await readAroundComment(commentId, levels, request));
      const isReply = read.loaded.comments[0]?.parent_id.startsWith('t1_') === true;
      return levels < context && isReply ? { ...read, loaded: { ...read.loaded, lacksAncestors: true } } : read;
    };
    const key = `${postId} ${commentId} ${context} ${max}`;
    const { value, tier, fetchedAtMs } = await this.reads.read(key, fetch, signal);
    return { ...value, tier, fetchedAtMs };
  }

  private toLoadedPost(source: ForumSource, thread: ReadThread): LoadedPost {
    this.logProblems(source, thread.post.id, thread);
    return { post: source.post(thread.post), loaded: thread.loaded };
  }

  /** Logs missing comments. The response shows them only as `has_more`. */
  private logProblems(source: ForumSource, postId: string, { failure, unknownKinds, faults }: ExpandedComments): void {
    source.report(`/comments/${postId}`, '/comments/ID', faults);
    if (failure) this.logger.warn({ err: failure, postId }, 'some comments of a post could not be fetched');
    if (unknownKinds.size > 0) {
      this.logger.warn({ postId, kinds: Object.fromEntries(unknownKinds) }, 'a thread contains items of unknown kinds');
    }
  }
}

/** Whether nothing was added since. */
function isAsLong(one: LoadedComments, other: LoadedComments): boolean {
  return one.comments.length === other.comments.length && one.missing.length === other.missing.length;
}

/** The form on disk. A change of it must raise the format of the disk cache, or old entries are misread. */
interface StoredPost {
  post: Post;
  held: LoadedComments;
}

function serialize({ post, loaded }: LoadedPost): Buffer {
  const stored: StoredPost = { post, held: loaded };
  return Buffer.from(JSON.stringify(stored));
}

function deserialize(data: Buffer): LoadedPost {
  const { post, held } = JSON.parse(data.toString('utf8')) as StoredPost;
  return { post, loaded: held };
}
