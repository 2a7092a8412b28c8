import type { CacheTier, Post } from '../../../schemas/messages/forum-post.ts';
import { CachedReads } from '../../../shared/cache/cached-reads.ts';
import type { DiskCache } from '../../../shared/cache/disk-cache.ts';
import { SingleFlight } from '../../../shared/cache/single-flight.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { HeldComments } from './comments/comment-tree.ts';
import { expandComments, readAroundComment, readThread } from './comments/expand-comments.ts';
import type { ExpandedComments, ReadThread } from './comments/expand-comments.ts';
import type { ForumSource } from './forum-source.ts';
import { isTrouble, negativeForMs } from './reading-failure.ts';

/** A post with what is held of its comments. Plain data, kept in caches: nobody changes it. */
export interface HeldPost {
  /** Without comments. */
  post: Post;
  held: HeldComments;
}

export interface PostRead extends HeldPost {
  tier: CacheTier;
}

/** What is asked for; once the signal aborts, and nobody else waits for the same, no further call is made. */
export interface AskedThread {
  /** Bare. */
  postId: string;
  /** So many comments, or as many as there are. */
  max: number;
  signal?: AbortSignal | undefined;
}

export interface PostReaderDeps {
  clock: Clock;
  memoryBytes: number;
  /** undefined: posts are kept in memory only. */
  disk: DiskCache | undefined;
  logger: Logger;
}

const DAY_MS = 86_400_000;
const YOUNG_FRESH_FOR_MS = 60_000;
const OLD_FRESH_FOR_MS = 600_000;

/** Posts through the caches. More of a post that is held is fetched in addition, never anew. */
export class PostReader {
  private readonly reads: CachedReads<HeldPost>;
  private readonly expansions = new SingleFlight<HeldPost>();
  private readonly logger: Logger;

  constructor({ clock, memoryBytes, disk, logger }: PostReaderDeps) {
    this.logger = logger;
    this.reads = new CachedReads<HeldPost>({
      clock,
      memoryBytes,
      // A young post changes by the minute.
      freshForMs: ({ post }, fetchedAtMs) =>
        fetchedAtMs - Date.parse(post.created_at) < DAY_MS ? YOUNG_FRESH_FOR_MS : OLD_FRESH_FOR_MS,
      mayServeStale: isTrouble,
      negativeForMs,
      ...(disk === undefined ? {} : { disk: { cache: disk, serialize, deserialize } }),
    });
  }

  /** Bytes and entries in memory now. */
  get memoryUse(): { bytes: number; entries: number } {
    return this.reads.memoryUse;
  }

  /**
   * A post with at least `max` comments, or as many as there are, or could be had in time.
   *
   * @throws UpstreamError when not even its first page could be had
   */
  async read(source: ForumSource, { postId, max, signal }: AskedThread): Promise<PostRead> {
    const fetch = async (abandoned: AbortSignal) =>
      this.toHeldPost(source, await readThread({ ...source.threadCalls(abandoned), postId, max }));
    const { value, tier, fetchedAtMs } = await this.reads.read(postId, fetch, signal);
    const { post, held } = value;
    if (held.comments.length >= max || held.stubs.length === 0) return { ...value, tier };
    const expand = async (abandoned: AbortSignal) => {
      const request = { ...source.threadCalls(abandoned), postId, max };
      const expanded = await expandComments(held, post.author, request);
      this.note(postId, expanded);
      const larger = { post, held: expanded.held };
      this.reads.put(postId, larger, fetchedAtMs);
      return larger;
    };
    const more = await this.expansions.run(`${postId} ${max}`, expand, signal);
    return { ...more, tier: tier === 'MISS' ? 'MISS' : 'PARTIAL' };
  }

  /**
   * A comment of a post, with `context` levels above it and its direct replies.
   *
   * @throws UpstreamError not_found when the post has no such comment
   */
  async readAround(
    source: ForumSource,
    { postId, commentId, context, max, signal }: AskedThread & { commentId: string; context: number },
  ): Promise<PostRead> {
    const fetch = async (abandoned: AbortSignal) => {
      const request = { ...source.threadCalls(abandoned), postId, max };
      return this.toHeldPost(source, await readAroundComment(commentId, context, request));
    };
    const { value, tier } = await this.reads.read(`${postId} ${commentId} ${context} ${max}`, fetch, signal);
    return { ...value, tier };
  }

  private toHeldPost(source: ForumSource, thread: ReadThread): HeldPost {
    this.note(thread.post.id, thread);
    return { post: source.post(thread.post), held: thread.held };
  }

  /** Readers learn of comments that could not be had by `has_more` only. */
  private note(postId: string, { failure, unknownKinds }: ExpandedComments): void {
    if (failure) this.logger.warn({ err: failure, postId }, 'some comments of a post could not be read');
    if (unknownKinds.size > 0) {
      this.logger.warn({ postId, kinds: Object.fromEntries(unknownKinds) }, 'a thread holds things of unknown kinds');
    }
  }
}

function serialize(value: HeldPost): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function deserialize(data: Buffer): HeldPost {
  return JSON.parse(data.toString('utf8')) as HeldPost;
}
