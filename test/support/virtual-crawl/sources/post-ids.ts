import { INTERVAL_MS, postIdIntervalMs } from '../../../../services/crawler/post-ids/post-id-source.ts';
import { firstHead } from '../../../../services/crawler/post-ids/walked-ids.ts';
import type { WalkPosition, WalkStep } from '../../../../services/crawler/post-ids/post-id-walk.ts';
import { PostIdWalk } from '../../../../services/crawler/post-ids/post-id-walk.ts';
import { postId } from '../../forum-model/stores.ts';
import type { SourceContext } from '../virtual-crawl.ts';
import type { VirtualCall, VirtualSource } from '../virtual-process.ts';

const HEAD_CHECK_MS = 5_000;
const FIRST_MARGIN = 100;

/** PostIdWalk, driven as PostIdSource drives it. */
export class VirtualPostIds implements VirtualSource {
  readonly name = 'post-ids';
  readonly maxInFlight = 4;
  private readonly context: SourceContext;
  private walk: PostIdWalk | undefined;
  private headKnownAt = Number.NEGATIVE_INFINITY;
  private isAskingHead: 'first' | 'again' | undefined;
  private askHeadAt = Number.NEGATIVE_INFINITY;
  private resumeAt = Number.NEGATIVE_INFINITY;

  constructor(context: SourceContext) {
    this.context = context;
  }

  begin(position: unknown): void {
    this.walk = position === undefined ? undefined : new PostIdWalk(position as WalkPosition);
  }

  next(now: number): VirtualCall | { waitMs: number } {
    if (this.needsHead(now)) return this.headCall(now);
    if (!this.walk || this.isAskingHead === 'first') return { waitMs: INTERVAL_MS };
    if (now < this.resumeAt) return { waitMs: this.resumeAt - now };
    const step = this.walk.step(now, this.context.process.budget.perSecond('catch-up', now) > 0);
    if (!step) return { waitMs: INTERVAL_MS };
    this.resumeAt = now + postIdIntervalMs(this.walk, this.context.process.pace, this.name);
    return this.stepCall(this.walk, step);
  }

  position(): unknown {
    return this.walk?.position();
  }

  private stepCall(walk: PostIdWalk, step: WalkStep): VirtualCall {
    return {
      request: { path: '/api/info', names: step.ids.map((id) => `t3_${id}`) },
      lane: step.purpose === 'catch-up' ? 'catch-up' : 'live',
      purpose: `post-ids ${step.purpose}`,
      succeeded: ({ posts }, seenAt) => {
        const before = walk.nextId;
        walk.learn(step, new Set(posts.map(postId)), seenAt);
        if (walk.nextId !== before) this.headKnownAt = seenAt;
        this.noteGaps(walk);
      },
      failed: () => {
        walk.fail(step);
      },
    };
  }

  private needsHead(now: number): boolean {
    if (this.isAskingHead !== undefined || now < this.askHeadAt) return false;
    return !this.walk || now - this.headKnownAt >= HEAD_CHECK_MS;
  }

  private headCall(now: number): VirtualCall {
    this.isAskingHead = this.headKnownAt === Number.NEGATIVE_INFINITY ? 'first' : 'again';
    const ended = (waitMs: number): void => {
      this.isAskingHead = undefined;
      this.askHeadAt = now + waitMs;
    };
    return {
      request: { path: '/r/all/new' },
      lane: 'live',
      purpose: 'post-ids listing',
      succeeded: ({ posts }, seenAt) => {
        ended(INTERVAL_MS);
        this.learnHead(posts.map(postId), seenAt);
      },
      failed: () => {
        ended(this.headKnownAt === Number.NEGATIVE_INFINITY ? 0 : HEAD_CHECK_MS);
      },
    };
  }

  private learnHead(ids: readonly string[], seenAt: number): void {
    const head = firstHead(ids);
    if (head === undefined) return;
    this.headKnownAt = seenAt;
    this.walk ??= new PostIdWalk({ head, margin: FIRST_MARGIN });
    this.walk.learnNewest(ids);
    this.noteGaps(this.walk);
  }

  private noteGaps(walk: PostIdWalk): void {
    const gaps = walk.takeEvents().givenUp.map(() => ({ source: this.name, afterAt: undefined, beforeAt: undefined }));
    this.context.gaps.push(...gaps);
  }
}
