import { POSTS_PER_CHECK, ThreadSweep } from '../../../../services/crawler/threads/thread-sweep.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';
import type { ForumAnswer } from '../../forum-model/forum-reader.ts';
import { postId, postOrdinal } from '../../forum-model/stores.ts';
import type { Fresh } from '../sightings.ts';
import type { SourceContext } from '../virtual-crawl.ts';
import type { VirtualCall, VirtualSource } from '../virtual-process.ts';

/** How often the archive is asked for new posts and comments. */
const ACTIVITY_MS = 5_000;
const IDLE_MS = 500;
/** Names that one reading looks up at most, a hundred a call. */
const MOST_LOOKED_UP = 1_000;

/** A reading under way: names of the thread that its answer left out. */
interface Lookup {
  post: number;
  names: string[];
  found: number;
  comments: number;
  readAt: number;
}

/** ThreadSweep, with an archive that answers at once. Gaps are not worked on: what is read for them is read anyway. */
export class VirtualThreads implements VirtualSource {
  readonly name = 'threads';
  readonly maxInFlight = 8;
  private readonly sweep = new ThreadSweep();
  private readonly context: SourceContext;
  private readonly lookups: Lookup[] = [];
  private readonly fresh: Fresh;
  private activityAt = Number.NEGATIVE_INFINITY;

  constructor(context: SourceContext) {
    this.context = context;
    this.fresh = context.sightings.follow();
  }

  begin(): void {
    for (const post of this.context.sightings.seenPosts()) this.follow(post);
  }

  next(now: number): VirtualCall | { waitMs: number } {
    if (now - this.activityAt >= ACTIVITY_MS) this.readActivity(now);
    const lookup = this.lookups.shift();
    if (lookup) return this.lookUp(lookup);
    const postIds = this.sweep.nextCheck(now, this.context.process.budget.perSecond('threads', now));
    if (postIds) return this.check(postIds);
    const reading = this.sweep.nextReading(now);
    return reading ? this.read(reading.postId) : { waitMs: IDLE_MS };
  }

  position(): unknown {
    return undefined;
  }

  private check(postIds: readonly string[]): VirtualCall {
    const { process, forum, sightings } = this.context;
    return {
      request: { path: '/api/info', names: postIds.map((id) => `t3_${id}`) },
      lane: 'threads',
      purpose: 'threads check',
      succeeded: ({ posts }, seenAt) => {
        const counts = new Map(posts.map((ordinal) => [ordinal, forum.posts.comments[ordinal]!]));
        process.queue.at(seenAt + this.sweep.settleMs, () => {
          const checked = postIds.map((id) => {
            const comments = counts.get(postOrdinal(id));
            const isKnown = this.sweep.archivedOf(id, comments ?? 0, seenAt) !== undefined;
            const archived = isKnown
              ? undefined
              : sightings.archivedOf(postOrdinal(id), seenAt - forum.options.startsAt);
            return { postId: id, comments, archived };
          });
          this.sweep.learnChecks(seenAt, checked);
        });
      },
      failed: () => {
        this.sweep.checkFailed(postIds);
      },
    };
  }

  private read(id: string): VirtualCall {
    const post = postOrdinal(id);
    return {
      request: { path: '/comments', postId: id },
      lane: 'threads',
      purpose: 'threads reading',
      succeeded: (answer, seenAt, added) => {
        const names = this.unseen(answer).map((index) => this.context.reader.commentName(index));
        const comments = this.context.forum.posts.comments[post]!;
        this.finishOrLookUp({ post, names: names.slice(0, MOST_LOOKED_UP), found: added, comments, readAt: seenAt });
      },
      failed: (error, now) => {
        const isRefused = error instanceof UpstreamError && error.reason === 'own_budget';
        this.sweep.readingFailed(id, isRefused ? 'own_budget' : 'failed', now);
      },
    };
  }

  private unseen({ more }: ForumAnswer): number[] {
    return more.filter((index) => this.context.sightings.commentSeenAt(index) === 0);
  }

  private lookUp(lookup: Lookup): VirtualCall {
    const names = lookup.names.slice(0, POSTS_PER_CHECK);
    return {
      request: { path: '/api/info', names },
      lane: 'threads',
      purpose: 'threads more',
      succeeded: (_answer, _seenAt, added) => {
        lookup.names = lookup.names.slice(POSTS_PER_CHECK);
        lookup.found += added;
        this.finishOrLookUp(lookup);
      },
      failed: () => {
        this.lookups.unshift(lookup);
      },
    };
  }

  private finishOrLookUp(lookup: Lookup): void {
    if (lookup.names.length > 0) {
      this.lookups.push(lookup);
      return;
    }
    const { post, readAt, comments, found } = lookup;
    const known = this.context.sightings.seenOfPost(post);
    this.sweep.learnReading(postId(post), { readAt, comments, known, found, unread: 0 });
  }

  private readActivity(now: number): void {
    const { forum } = this.context;
    this.activityAt = now;
    for (const post of this.fresh.posts.splice(0)) this.follow(post);
    const byPost = new Map<number, { comments: number; oldestAt: number }>();
    for (const index of this.fresh.comments.splice(0)) {
      const post = forum.comments.post[index]!;
      const createdAt = forum.options.startsAt + forum.comments.createdAt(index);
      const activity = byPost.get(post);
      if (!activity) byPost.set(post, { comments: 1, oldestAt: createdAt });
      else {
        activity.comments += 1;
        activity.oldestAt = Math.min(activity.oldestAt, createdAt);
      }
    }
    for (const [post, activity] of byPost) this.sweep.noteActivity({ postId: postId(post), ...activity });
  }

  private follow(post: number): void {
    const { forum, sightings } = this.context;
    const createdAt = forum.options.startsAt + forum.posts.createdAt[post]!;
    const subreddit = `c${forum.posts.community[post]!}`;
    this.sweep.add({ postId: postId(post), createdAt, comments: sightings.seenOfPost(post), subreddit });
  }
}

/** Two rechecks of each of 149 items a second, a hundred items a call. */
const WANTED_PER_SECOND = 3;
const LONGEST_MS = 60_000;

/** The calls that rechecks take. They find no new items, so the model does not answer them. */
export class VirtualRechecks implements VirtualSource {
  readonly name = 'rechecks';
  readonly maxInFlight = 2;
  private readonly context: SourceContext;
  private nextAt = 0;

  constructor(context: SourceContext) {
    this.context = context;
  }

  begin(): void {
    this.nextAt = 0;
  }

  next(now: number): VirtualCall | { waitMs: number } {
    if (now < this.nextAt) return { waitMs: this.nextAt - now };
    const perSecond = Math.min(WANTED_PER_SECOND, this.context.process.budget.perSecond('recheck', now));
    this.nextAt = now + Math.min(LONGEST_MS, 1000 / Math.max(1e-3, perSecond));
    const nothing = () => undefined;
    return {
      request: { path: '/api/info', names: [] },
      lane: 'recheck',
      purpose: 'rechecks',
      succeeded: nothing,
      failed: nothing,
    };
  }

  position(): unknown {
    return undefined;
  }
}
