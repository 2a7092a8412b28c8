import { z } from 'zod';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { CrawlGap } from '../../../shared/stores/crawl/crawl-gaps.ts';
import type { Upstream } from '../../../shared/upstream/upstream-client.ts';
import type { CrawlSource, Round } from '../crawl-source.ts';
import type { Pace } from '../pace.ts';
import { firstHead } from './post-id.ts';
import { PostIdWalk } from './post-id-walk.ts';
import { readThings } from '../read-things.ts';

const INTERVAL_MS = 1_000;
/** Between two calls while there is more to fetch at once. */
const BUSY_INTERVAL_MS = 100;
/** While stretches are left behind: bounds catching up to about two calls a second. */
const CATCH_UP_INTERVAL_MS = 250;
/** So long without a new post, the listing is asked where the head is: a hole may be wider than one call. */
const HEAD_CHECK_MS = 5_000;
/** A first walk begins so many ids before the newest. */
const FIRST_MARGIN = 100;

const savedPosition = z.object({
  next: z.string(),
  stretches: z.array(z.tuple([z.string(), z.string()])),
  missing: z.array(z.tuple([z.string(), z.number(), z.number()])),
});

export interface PostIdSourceDeps {
  upstream: Upstream;
  pace: Pace;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** Notes a gap; it must be written before the position that lies behind it. */
  missed: (gap: CrawlGap) => void;
}

/** Walks the sequential post ids with /api/info, a hundred a call, just past the newest one. */
export class PostIdSource implements CrawlSource {
  readonly name = 'post-ids';
  readonly label = 'post-ids';
  readonly replay = false;
  private readonly deps: PostIdSourceDeps;
  private walk: PostIdWalk | undefined;
  private headKnownAt = Number.NEGATIVE_INFINITY;

  constructor(deps: PostIdSourceDeps) {
    this.deps = deps;
  }

  async begin(position: unknown): Promise<void> {
    this.walk = position === undefined ? undefined : new PostIdWalk(savedPosition.parse(position));
    this.headKnownAt = Number.NEGATIVE_INFINITY;
  }

  async round(signal: AbortSignal): Promise<Round> {
    const { upstream, clock } = this.deps;
    const startedAt = clock();
    const walk = await this.walkFromHead(signal);
    if (!walk)
      return { things: [], seenAt: startedAt, acknowledged: () => undefined, pauseMs: INTERVAL_MS, done: false };
    const step = walk.step(startedAt, upstream.perSecond('catch-up') > 0);
    const id = step.ids.map((bare) => `t3_${bare}`).join(',');
    const lane = step.purpose === 'catch-up' ? 'catch-up' : 'live';
    const body = await upstream.get('/api/info', { id }, { endpoint: 'info', lane, signal });
    const seenAt = clock();
    const { things } = readThings(body, { ...this.deps, label: this.label, endpoint: 'info' });
    const found = new Set(things.filter((thing) => thing.kind === 't3').map((thing) => thing.data.id));
    return {
      things,
      seenAt,
      acknowledged: () => {
        this.settle(walk, step, found, seenAt);
      },
      pauseMs: Math.max(0, this.intervalMs(walk, found.size) - (seenAt - startedAt)),
      done: false,
    };
  }

  position(): unknown {
    return this.walk?.position();
  }

  async end(): Promise<void> {
    this.deps.pace.forget(this.name);
  }

  private settle(
    walk: PostIdWalk,
    step: ReturnType<PostIdWalk['step']>,
    found: ReadonlySet<string>,
    now: number,
  ): void {
    const before = walk.nextId;
    walk.learn(step, found, now);
    if (walk.nextId !== before) this.headKnownAt = now;
    this.tell(walk);
  }

  private tell(walk: PostIdWalk): void {
    const { metrics, logger } = this.deps;
    const { absent, rejected, givenUp, wentBackTo } = walk.takeNews();
    if (absent > 0) metrics.crawlerAbsent.inc({ source: this.label }, absent);
    for (const id of rejected) {
      metrics.crawlerHeadAlarms.inc({ what: 'rejected' });
      logger.error({ id }, 'a post of a far-off id has no others near it: the walk does not go there');
    }
    if (wentBackTo !== undefined) {
      metrics.crawlerHeadAlarms.inc({ what: 'went_back' });
      logger.error({ id: wentBackTo }, 'the walk stood far ahead of the newest posts and went back to them');
    }
    for (const { from, to } of givenUp) {
      const afterThing = from === undefined ? undefined : `t3_${from}`;
      const reason = from === undefined ? 'walk_went_back' : 'stretch_given_up';
      this.deps.missed({
        source: this.name,
        reason,
        afterThing,
        afterAt: undefined,
        beforeThing: `t3_${to}`,
        beforeAt: undefined,
      });
      metrics.crawlerGaps.inc({ source: this.name });
      logger.error({ from, to }, 'posts of a stretch of ids are not fetched any more');
    }
  }

  /** The walk, told where the head is when that is not clear; undefined while the forum has no post at all. */
  private async walkFromHead(signal: AbortSignal): Promise<PostIdWalk | undefined> {
    const { upstream, clock } = this.deps;
    const sinceHead = clock() - this.headKnownAt;
    // Below 0: the clock was set back.
    if (this.walk && sinceHead >= 0 && sinceHead < HEAD_CHECK_MS) return this.walk;
    const call = { endpoint: 'listing-new', lane: 'live', signal } as const;
    const body = await upstream.get('/r/all/new', { limit: '100' }, call);
    const { things } = readThings(body, { ...this.deps, label: this.label, endpoint: call.endpoint });
    const ids = things.filter((thing) => thing.kind === 't3').map((thing) => thing.data.id);
    const head = firstHead(ids);
    if (head === undefined) return this.walk;
    this.headKnownAt = clock();
    this.walk ??= new PostIdWalk({ head, margin: FIRST_MARGIN });
    this.walk.learnNewest(ids);
    this.tell(this.walk);
    return this.walk;
  }

  private intervalMs(walk: PostIdWalk, found: number): number {
    const wanted =
      walk.isBehind || found > 80 ? BUSY_INTERVAL_MS : walk.hasStretches ? CATCH_UP_INTERVAL_MS : INTERVAL_MS;
    return this.deps.pace.intervalMs(this.name, wanted);
  }
}
