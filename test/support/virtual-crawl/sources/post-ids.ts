import { firstHead } from '../../../../services/crawler/post-ids/post-id.ts';
import type { WalkPosition } from '../../../../services/crawler/post-ids/post-id-walk.ts';
import { PostIdWalk } from '../../../../services/crawler/post-ids/post-id-walk.ts';
import { postId } from '../../forum-model/names.ts';
import type { SourceContext } from '../virtual-crawl.ts';
import type { VirtualCall, VirtualSource } from '../virtual-source.ts';

const INTERVAL_MS = 1_000;
const LONGEST_INTERVAL_MS = 5_000;
const LATENCY_SHARE = 0.08;
const BUSY_INTERVAL_MS = 100;
const CATCH_UP_INTERVAL_MS = 250;
const HEAD_CHECK_MS = 5_000;
const FIRST_MARGIN = 100;

/** PostIdWalk, driven as PostIdSource drives it. */
export class VirtualPostIds implements VirtualSource {
  readonly name = 'post-ids';
  readonly maxInFlight = 1;
  /** Ranges of ids that were given up. */
  readonly givenUp: { from?: string; to: string }[] = [];
  private readonly context: SourceContext;
  private walk: PostIdWalk | undefined;
  private headKnownAt = Number.NEGATIVE_INFINITY;
  private nextAt = Number.NEGATIVE_INFINITY;
  private isWaiting = false;

  constructor(context: SourceContext) {
    this.context = context;
  }

  begin(position: unknown): void {
    this.walk = position === undefined ? undefined : new PostIdWalk(position as WalkPosition);
    this.headKnownAt = Number.NEGATIVE_INFINITY;
    this.nextAt = Number.NEGATIVE_INFINITY;
    this.isWaiting = false;
  }

  next(now: number): VirtualCall | { waitMs: number } {
    if (this.isWaiting || now < this.nextAt) return { waitMs: this.isWaiting ? 60_000 : this.nextAt - now };
    this.isWaiting = true;
    if (!this.walk || now - this.headKnownAt >= HEAD_CHECK_MS) return this.headCall(now);
    return this.stepCall(this.walk, now);
  }

  position(): unknown {
    return this.walk?.position();
  }

  private headCall(startedAt: number): VirtualCall {
    return {
      request: { path: '/r/all/new' },
      lane: 'live',
      purpose: 'post-ids head',
      succeeded: ({ posts }, seenAt) => {
        const ids = posts.map(postId);
        const head = firstHead(ids);
        this.isWaiting = false;
        this.nextAt = head === undefined ? startedAt + INTERVAL_MS : seenAt;
        if (head === undefined) return;
        this.headKnownAt = seenAt;
        this.walk ??= new PostIdWalk({ head, margin: FIRST_MARGIN });
        this.walk.learnNewest(ids);
      },
      failed: () => {
        this.isWaiting = false;
      },
    };
  }

  private stepCall(walk: PostIdWalk, startedAt: number): VirtualCall {
    const { budget } = this.context.process;
    // One call at a time: a step is always possible.
    const step = walk.step(startedAt, budget.perSecond('catch-up', startedAt) > 0)!;
    return {
      request: { path: '/api/info', names: step.ids.map((id) => `t3_${id}`) },
      lane: step.purpose === 'catch-up' ? 'catch-up' : 'live',
      purpose: `post-ids ${step.purpose}`,
      succeeded: ({ posts }, seenAt) => {
        const found = new Set(posts.map(postId));
        const before = walk.nextId;
        walk.learn(step, found, seenAt);
        if (walk.nextId !== before) this.headKnownAt = seenAt;
        this.givenUp.push(...walk.takeEvents().givenUp);
        this.isWaiting = false;
        this.nextAt = startedAt + this.intervalMs(walk, found.size);
      },
      failed: () => {
        walk.fail(step);
        this.isWaiting = false;
      },
    };
  }

  private intervalMs(walk: PostIdWalk, found: number): number {
    const { pace } = this.context.process;
    const isBusy = walk.isBehind || found > 80;
    const quietMs = Math.min(LONGEST_INTERVAL_MS, pace.affordableMs(LATENCY_SHARE, INTERVAL_MS));
    return pace.intervalMs(this.name, isBusy ? BUSY_INTERVAL_MS : walk.hasStretches ? CATCH_UP_INTERVAL_MS : quietMs);
  }
}
