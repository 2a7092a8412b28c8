import type { CachedReadsOptions } from '../../shared/cache/cached-reads.ts';
import { CachedReads } from '../../shared/cache/cached-reads.ts';
import { CacheFolder } from './cache-folder.ts';
import { seededRandom } from './cache-traces.ts';

export interface Post {
  title: string;
  createdAtMs: number;
}

export class Failure extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the forum answered ${status}`);
    this.status = status;
  }
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const statusOf = (error: unknown) => (error instanceof Failure ? error.status : 0);

/** Caches of posts that share a clock, and a disk if they ask for it. */
export class ReadsFixture {
  readonly files = new CacheFolder();

  constructor() {
    this.files.now = 100 * DAY;
  }

  get now(): number {
    return this.files.now;
  }

  wait(ms: number): void {
    this.files.now += ms;
  }

  /** The policy of posts: fresh for a minute while younger than a day, for ten minutes afterwards. */
  reads(options: Partial<CachedReadsOptions<Post>> = {}): CachedReads<Post> {
    return new CachedReads<Post>({
      clock: () => this.files.now,
      memoryBytes: 1_000_000,
      freshForMs: (post, fetchedAtMs) => (fetchedAtMs - post.createdAtMs < DAY ? MINUTE : 10 * MINUTE),
      mayServeStale: (error) => statusOf(error) >= 500,
      negativeForMs: (error) => ([403, 404].includes(statusOf(error)) ? MINUTE : 0),
      random: seededRandom(1),
      ...options,
    });
  }

  async disk(): Promise<NonNullable<CachedReadsOptions<Post>['disk']>> {
    return {
      cache: await this.files.open(),
      serialize: (post) => Buffer.from(JSON.stringify(post)),
      deserialize: (data) => JSON.parse(data.toString()) as Post,
    };
  }

  /** A source that answers what it is told to, and counts. */
  source(createdAtMs = this.now) {
    const forum = {
      calls: 0,
      failure: undefined as Error | undefined,
      fetch: async (): Promise<Post> => {
        forum.calls += 1;
        if (forum.failure) throw forum.failure;
        return { title: `answer ${forum.calls}`, createdAtMs };
      },
    };
    return forum;
  }
}
