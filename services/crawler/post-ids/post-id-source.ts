import { z } from 'zod';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { CrawlGap } from '../../../shared/stores/crawl/crawl-gaps.ts';
import type { Upstream } from '../../../shared/upstream/upstream-client.ts';
import type { Call, CrawlSource, Wait } from '../crawl-source.ts';
import type { Pace } from '../pace.ts';
import { firstHead } from './post-id.ts';
import { PostIdWalk } from './post-id-walk.ts';
import { readThings } from '../read-things.ts';
import type { Round } from '../serial-calls.ts';
import { SerialCalls } from '../serial-calls.ts';

const INTERVAL_MS = 1_000;
/** The interval between two calls while more posts can be fetched at once. */
const BUSY_INTERVAL_MS = 100;
/** The interval while stretches are to be caught up. It limits catching up to about two calls a second. */
const CATCH_UP_INTERVAL_MS = 250;
/** After this time without a new post the listing is asked for the head: a hole in the ids may exceed one call. */
const HEAD_CHECK_MS = 5_000;
/** A first walk begins this many ids before the newest. */
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
  /** Queues a gap; it must be written before the position that passes it. */
  recordGap: (gap: CrawlGap) => void;
}

/** Requests the sequential post ids from /api/info, a hundred per call, up to just past the newest one. */
export class PostIdSource implements CrawlSource {
  readonly name = 'post-ids';
  readonly label = 'post-ids';
  readonly replay = false;
  readonly maxInFlight = 1;
  private readonly deps: PostIdSourceDeps;
  private readonly calls: SerialCalls;
  private walk: PostIdWalk | undefined;
  private headKnownAt = Number.NEGATIVE_INFINITY;

  constructor(deps: PostIdSourceDeps) {
    this.deps = deps;
    this.calls = new SerialCalls(deps.clock);
  }

  async begin(position: unknown): Promise<void> {
    this.walk = position === undefined ? undefined : new PostIdWalk(savedPosition.parse(position));
    this.headKnownAt = Number.NEGATIVE_INFINITY;
    this.calls.reset();
  }

  next(now: number): Call | Wait {
    return this.calls.next(now, (signal) => this.round(signal));
  }

  private async round(signal: AbortSignal): Promise<Round> {
    const { upstream, clock } = this.deps;
    const startedAt = clock();
    const walk = await this.walkFromHead(signal);
    if (!walk) return { things: [], seenAt: startedAt, acknowledged: () => undefined, pauseMs: INTERVAL_MS };
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
        this.acknowledge(walk, step, found, seenAt);
      },
      pauseMs: Math.max(0, this.intervalMs(walk, found.size) - (seenAt - startedAt)),
    };
  }

  position(): unknown {
    return this.walk?.position();
  }

  async end(): Promise<void> {
    this.deps.pace.remove(this.name);
  }

  private acknowledge(
    walk: PostIdWalk,
    step: ReturnType<PostIdWalk['step']>,
    found: ReadonlySet<string>,
    now: number,
  ): void {
    const before = walk.nextId;
    walk.learn(step, found, now);
    if (walk.nextId !== before) this.headKnownAt = now;
    this.reportEvents(walk);
  }

  private reportEvents(walk: PostIdWalk): void {
    const { metrics, logger } = this.deps;
    const { absent, rejected, givenUp, returnedTo } = walk.takeEvents();
    if (absent > 0) metrics.crawlerAbsent.inc({ source: this.label }, absent);
    for (const id of rejected) {
      metrics.crawlerHeadAlarms.inc({ what: 'rejected' });
      logger.error({ id }, 'an id far above the newest posts has no neighbours; the walk ignores it');
    }
    if (returnedTo !== undefined) {
      metrics.crawlerHeadAlarms.inc({ what: 'went_back' });
      logger.error({ id: returnedTo }, 'the walk was far ahead of the newest posts and returned to them');
    }
    for (const { from, to } of givenUp) {
      const afterThing = from === undefined ? undefined : `t3_${from}`;
      const reason = from === undefined ? 'walk_went_back' : 'stretch_given_up';
      this.deps.recordGap({
        source: this.name,
        reason,
        afterThing,
        afterAt: undefined,
        beforeThing: `t3_${to}`,
        beforeAt: undefined,
      });
      metrics.crawlerGaps.inc({ source: this.name });
      logger.error({ from, to }, 'a stretch of post ids was given up; a gap is recorded');
    }
  }

  /** Returns the walk, after asking for the head when it is uncertain; undefined while the forum has no posts. */
  private async walkFromHead(signal: AbortSignal): Promise<PostIdWalk | undefined> {
    const { upstream, clock } = this.deps;
    const sinceHead = clock() - this.headKnownAt;
    // A negative value means that the clock was set back.
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
    this.reportEvents(this.walk);
    return this.walk;
  }

  private intervalMs(walk: PostIdWalk, found: number): number {
    const requestedMs =
      walk.isBehind || found > 80 ? BUSY_INTERVAL_MS : walk.hasStretches ? CATCH_UP_INTERVAL_MS : INTERVAL_MS;
    return this.deps.pace.intervalMs(this.name, requestedMs);
  }
}
