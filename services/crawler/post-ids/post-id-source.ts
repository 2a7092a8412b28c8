import { z } from 'zod';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { CrawlGap, GapClosing } from '../../../shared/crawl/crawl-gaps.ts';
import type { Thing } from '../../../shared/forum-client/parse-things.ts';
import type { Upstream } from '../../../shared/forum-client/upstream-client.ts';
import type { Call, CrawlSource, Wait } from '../crawl-source.ts';
import type { Pace } from '../pace.ts';
import { readThings } from '../crawl-source.ts';
import { firstHead, idToNumber } from './walked-ids.ts';
import type { WalkEvents, WalkStep } from './post-id-walk.ts';
import { PostIdWalk } from './post-id-walk.ts';

/** After this time without a new post the listing is asked for the head: a hole in the ids may exceed one call. */
const HEAD_CHECK_MS = 5_000;
/** A first walk begins this many ids before the newest. */
const FIRST_MARGIN = 100;

type GapDates = Pick<CrawlGap, 'afterAt' | 'beforeAt'>;
const UNDATED: GapDates = { afterAt: undefined, beforeAt: undefined };

const savedPosition = z.object({
  next: z.string(),
  stretches: z.array(z.union([z.tuple([z.string(), z.string()]), z.tuple([z.string(), z.string(), z.number()])])),
  newestAt: z.number().optional(),
  walkedAt: z.number().nullish(),
  missing: z.array(z.tuple([z.string(), z.number(), z.number()])),
});

interface PostIdSourceDeps {
  upstream: Upstream;
  pace: Pace;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  recordGap: (gap: CrawlGap) => void;
  /** Queues the end of the gap that ends before `beforeThing`. */
  closeGap: (closing: GapClosing) => void;
}

/** The items of a forum whose ids are sequential. */
export interface IdPlan {
  name: 'post-ids' | 'comment-ids';
  kind: Thing['kind'];
  /** The listing of the newest items, and the metrics label of its calls. */
  listing: { path: string; endpoint: string };
}

export const POST_IDS: IdPlan = {
  name: 'post-ids',
  kind: 't3',
  listing: { path: '/r/all/new', endpoint: 'listing-new' },
};

export const COMMENT_IDS: IdPlan = {
  name: 'comment-ids',
  kind: 't1',
  listing: { path: '/r/all/comments', endpoint: 'listing-comments' },
};

/** Requests sequential ids from /api/info, a hundred per call, up to just past the newest one. */
export class PostIdSource implements CrawlSource {
  readonly name: IdPlan['name'];
  readonly label: IdPlan['name'];
  readonly replay = false;
  readonly maxInFlight = 4;
  private readonly plan: IdPlan;
  private readonly deps: PostIdSourceDeps;
  private walk: PostIdWalk | undefined;
  private headKnownAt = Number.NEGATIVE_INFINITY;
  /** A call for the head is in flight: the first one, or another. */
  private isAskingHead: 'first' | 'again' | undefined;
  private askHeadAt = Number.NEGATIVE_INFINITY;
  private resumeAt = Number.NEGATIVE_INFINITY;
  /** When the newest item that was found before any jump was created, in milliseconds since 1970. */
  private newestAt: number | undefined;
  /** When a call for new ids was last answered; answers of the listing do not count. */
  private walkedAt: number | undefined;

  constructor(plan: IdPlan, deps: PostIdSourceDeps) {
    this.name = plan.name;
    this.label = plan.name;
    this.plan = plan;
    this.deps = deps;
  }

  async begin(position: unknown): Promise<void> {
    const saved = position === undefined ? undefined : savedPosition.parse(position);
    this.walk = saved && new PostIdWalk(saved);
    this.newestAt = saved?.newestAt;
    this.walkedAt = saved?.walkedAt ?? undefined;
    this.headKnownAt = Number.NEGATIVE_INFINITY;
    this.isAskingHead = undefined;
    this.askHeadAt = Number.NEGATIVE_INFINITY;
    this.resumeAt = Number.NEGATIVE_INFINITY;
  }

  next(now: number): Call | Wait {
    if (this.needsHead(now)) return this.headCall(now);
    if (!this.walk || this.isAskingHead === 'first') return { waitMs: INTERVAL_MS };
    if (now < this.resumeAt) return { waitMs: this.resumeAt - now };
    const step = this.walk.step(now, this.deps.upstream.perSecond('catch-up') > 0);
    if (!step) return { waitMs: INTERVAL_MS };
    this.resumeAt = now + postIdIntervalMs(this.walk, this.deps.pace, this.name);
    return this.stepCall(this.walk, step);
  }

  private stepCall(walk: PostIdWalk, step: WalkStep): Call {
    const { upstream, clock } = this.deps;
    const lane = step.purpose === 'catch-up' ? 'catch-up' : 'live';
    return {
      fetch: async (signal) => {
        const id = step.ids.map((bare) => this.nameOf(bare)).join(',');
        const body = await upstream.get('/api/info', { id }, { endpoint: 'info', lane, signal });
        const seenAt = clock();
        const { things, malformed } = readThings(body, { ...this.deps, label: this.label, endpoint: 'info' });
        const found = things.filter((thing) => thing.kind === this.plan.kind);
        return {
          things,
          malformed,
          seenAt,
          acknowledged: () => {
            this.acknowledge(walk, step, found, seenAt);
          },
        };
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

  /**
   * Asks for the newest items, and publishes them, so that they are seen even while calls for ids fail. Until the
   * first answer the walk makes no step, because it may have to jump.
   */
  private headCall(now: number): Call {
    const { path, endpoint } = this.plan.listing;
    this.isAskingHead = this.headKnownAt === Number.NEGATIVE_INFINITY ? 'first' : 'again';
    const ended = (waitMs: number): void => {
      this.isAskingHead = undefined;
      this.askHeadAt = now + waitMs;
    };
    return {
      fetch: async (signal) => {
        const body = await this.deps.upstream.get(path, { limit: '100' }, { endpoint, lane: 'live', signal });
        const seenAt = this.deps.clock();
        const { things: listed, malformed } = readThings(body, { ...this.deps, label: this.label, endpoint });
        const things = listed.filter((thing) => thing.kind === this.plan.kind);
        return {
          things,
          malformed,
          seenAt,
          acknowledged: () => {
            ended(INTERVAL_MS);
            this.learnHead(things, seenAt);
          },
        };
      },
      failed: () => {
        ended(this.headKnownAt === Number.NEGATIVE_INFINITY ? 0 : HEAD_CHECK_MS);
      },
    };
  }

  /** An empty listing tells nothing: a forum without posts has no walk. */
  private learnHead(things: readonly Thing[], seenAt: number): void {
    const ids = things.map((thing) => thing.data.id);
    const head = firstHead(ids);
    if (head === undefined) return;
    this.headKnownAt = seenAt;
    this.walk ??= new PostIdWalk({ head, margin: FIRST_MARGIN });
    this.walk.learnNewest(ids);
    this.reportEvents(this.walk, UNDATED);
  }

  position(): unknown {
    return this.walk && { ...this.walk.position(), newestAt: this.newestAt, walkedAt: this.walkedAt ?? null };
  }

  async end(): Promise<void> {
    this.deps.pace.remove(this.name);
  }

  private acknowledge(walk: PostIdWalk, step: WalkStep, found: readonly Thing[], now: number): void {
    const before = walk.nextId;
    if (step.purpose !== 'catch-up') this.walkedAt = now;
    walk.learn(step, new Set(found.map(({ data }) => data.id)), now);
    if (walk.nextId !== before) this.headKnownAt = now;
    const created = found.map(({ data }) => Math.min(data.created_utc * 1000, now));
    // After a probe the walk is past the stretch that it skipped, so its posts are the first ones after it.
    this.reportEvents(walk, {
      afterAt: this.newestAt,
      beforeAt: created.length > 0 ? Math.min(...created) : undefined,
    });
    if (step.purpose !== 'catch-up' && created.length > 0)
      this.newestAt = Math.max(this.newestAt ?? -Infinity, ...created);
  }

  private reportEvents(walk: PostIdWalk, dates: GapDates): void {
    const { metrics, logger } = this.deps;
    const { absent, skipped, caughtUp, rejected, givenUp, returnedTo } = walk.takeEvents();
    if (absent > 0) metrics.crawlerAbsent.inc({ source: this.label }, absent);
    for (const id of rejected) {
      metrics.crawlerHeadAlarms.inc({ what: 'rejected' });
      logger.error({ id }, 'an id far above the newest posts has no neighbours; the walk ignores it');
    }
    if (returnedTo !== undefined) {
      metrics.crawlerHeadAlarms.inc({ what: 'went_back' });
      logger.error({ id: returnedTo }, 'the walk was far ahead of the newest posts and returned to them');
    }
    for (const { from, to } of skipped) this.recordGap('skipped', from, to, dates);
    for (const { to, found } of caughtUp) {
      this.deps.closeGap({ beforeThing: this.nameOf(to), found, outcome: 'filled' });
      logger.info({ source: this.name, to, found }, 'caught up with the skipped ids');
    }
    for (const stretch of givenUp) {
      const { from, to } = stretch;
      // Of a skip that is longer than what is caught up, or of an older one, whose dates are not known any more.
      const isOfSkip = from !== undefined && skipped.some((skip) => isWithin({ from, to }, skip));
      this.giveUp(stretch, isOfSkip ? dates : UNDATED);
    }
  }

  private giveUp({ from, to, found = 0 }: WalkEvents['givenUp'][number], dates: GapDates): void {
    const reason = from === undefined ? 'walk_went_back' : 'stretch_given_up';
    this.recordGap(reason, from, to, dates);
    this.deps.closeGap({ beforeThing: this.nameOf(to), found, outcome: 'given_up' });
    this.deps.logger.error({ source: this.name, from, to, found }, 'gave up on a range of ids');
  }

  private recordGap(reason: string, from: string | undefined, to: string, dates: GapDates): void {
    const afterThing = from === undefined ? undefined : this.nameOf(from);
    this.deps.recordGap({ source: this.name, reason, afterThing, beforeThing: this.nameOf(to), ...dates });
  }

  private nameOf(id: string): string {
    return `${this.plan.kind}_${id}`;
  }
}

function isWithin(inner: { from: string; to: string }, outer: { from: string; to: string }): boolean {
  return idToNumber(inner.from) >= idToNumber(outer.from) && idToNumber(inner.to) <= idToNumber(outer.to);
}

/** The interval while there is nothing to catch up and the budget is ample. */
export const INTERVAL_MS = 1_000;
/** The interval while the budget is small: this many posts of the whole site nearly fill a call. */
const LONGEST_INTERVAL_MS = 5_000;
/** The part of the live budget that calls may take which are not needed to see every post. */
const LATENCY_SHARE = 0.08;
/** A call brings up to a hundred posts, so this part of the live budget is theirs before listings have any. */
const FIRST_SHARE = 0.25;
/** The part of the live budget that is theirs while they are behind the newest posts. */
const BEHIND_SHARE = 0.5;
/** The interval between two calls while more posts can be fetched at once. */
const BUSY_INTERVAL_MS = 100;
/** The interval while stretches are to be caught up. It limits catching up to about two calls a second. */
const CATCH_UP_INTERVAL_MS = 250;

/** Milliseconds between two calls of a walk. `source`: its name in `pace`. */
export function postIdIntervalMs(
  walk: Pick<PostIdWalk, 'isBehind' | 'isFull' | 'hasStretches'>,
  pace: Pace,
  source: string,
): number {
  const isBusy = walk.isBehind || walk.isFull;
  const quietMs = Math.min(LONGEST_INTERVAL_MS, pace.affordableMs(LATENCY_SHARE, INTERVAL_MS));
  const requestedMs = isBusy ? BUSY_INTERVAL_MS : walk.hasStretches ? CATCH_UP_INTERVAL_MS : quietMs;
  return pace.preferredMs(source, requestedMs, isBusy ? BEHIND_SHARE : FIRST_SHARE);
}
