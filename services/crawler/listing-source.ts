import { z } from 'zod';
import type { CrawlGap } from '../../shared/crawl/crawl-gaps.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Upstream } from '../../shared/forum-client/upstream-client.ts';
import { isOwnBudgetRefusal, UpstreamError } from '../../shared/forum-client/upstream-error.ts';
import type { Call, CrawlSource, Fetched, Wait } from './crawl-source.ts';
import { listedOf, readThings } from './crawl-source.ts';
import type { Pace } from './pace.ts';
import type { PollRequest } from './listing-polling.ts';
import { PAGE_SIZE } from './listing-segment.ts';
import { ListingPolling, MAX_LISTING_CALLS } from './listing-polling.ts';

const savedPosition = z.object({ anchors: z.array(z.string()), newestAt: z.number().optional() });

export interface ListingSourceDeps {
  upstream: Upstream;
  pace: Pace;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
  /** Queues a gap; it must be written before the position that passes it. */
  recordGap: (gap: CrawlGap) => void;
}

export interface ListingPlan {
  name: string;
  path: string;
  /** The metrics label of the calls. */
  endpoint: string;
  /**
   * The longest interval between two reads of the newest page, in milliseconds, while the budget is ample: with
   * `latencyShare` of it the reads come as often as that.
   */
  intervalMs: number;
  /** The part of the live budget that reads may take which are not needed to see everything. */
  latencyShare: number;
}

/** Polls a listing of the whole forum with calls that overlap. ListingPolling decides which. */
export class ListingSource implements CrawlSource {
  readonly name: string;
  readonly label = 'listings';
  readonly replay = false;
  readonly maxInFlight = MAX_LISTING_CALLS;
  private readonly plan: ListingPlan;
  private readonly deps: ListingSourceDeps;
  private polling: ListingPolling;

  constructor(plan: ListingPlan, deps: ListingSourceDeps) {
    this.name = plan.name;
    this.plan = plan;
    this.deps = deps;
    this.polling = new ListingPolling({ maxIntervalMs: plan.intervalMs });
  }

  async begin(position: unknown): Promise<void> {
    this.polling = new ListingPolling({
      maxIntervalMs: this.plan.intervalMs,
      position: position === undefined ? undefined : savedPosition.parse(position),
    });
  }

  next(now: number): Call | Wait {
    const { polling, plan } = this;
    polling.setMaxInterval(this.deps.pace.affordableMs(plan.latencyShare, plan.intervalMs));
    const request = polling.next(now, this.deps.pace.perSecond(this.name, polling.wantedPerSecond));
    this.recordGaps(polling);
    if ('waitMs' in request) return request;
    return {
      fetch: (signal) =>
        request.hole ? this.fetchDeeper(polling, request, signal) : this.fetch(polling, request, signal),
      failed: () => {
        polling.failed(request, this.deps.clock());
      },
    };
  }

  position(): unknown {
    return this.polling.position();
  }

  async end(): Promise<void> {
    this.deps.pace.remove(this.name);
  }

  private async fetch(polling: ListingPolling, request: PollRequest, signal: AbortSignal): Promise<Fetched> {
    const { upstream, clock, metrics } = this.deps;
    const { path, endpoint } = this.plan;
    const params = { limit: String(PAGE_SIZE), ...(request.after === undefined ? {} : { after: request.after }) };
    const body = await upstream.get(path, params, { endpoint, lane: 'live', signal });
    const seenAt = clock();
    const { things, malformed, after } = readThings(body, { ...this.deps, label: this.label, endpoint });
    if (things.length + malformed.length === 0 && !request.hole && polling.hasHistory) {
      throw new UpstreamError('broken', `${path} is empty; it held items before`, { reason: 'empty_listing' });
    }
    const items = things.map((thing) => listedOf(thing, seenAt));
    return {
      things,
      malformed,
      seenAt,
      acknowledged: () => {
        const { outcome } = polling.learn(request, { items, after }, clock());
        if (outcome === 'overflow') metrics.crawlerOverflows.inc({ source: this.label });
        this.recordGaps(polling);
      },
    };
  }

  /** A deeper page that the forum refuses must not hold up the newest ones: it counts as answered, and is retried. */
  private async fetchDeeper(polling: ListingPolling, request: PollRequest, signal: AbortSignal): Promise<Fetched> {
    try {
      return await this.fetch(polling, request, signal);
    } catch (error) {
      if (!(error instanceof UpstreamError) || isOwnBudgetRefusal(error) || polling.isFailing) throw error;
      const now = this.deps.clock();
      return {
        things: [],
        seenAt: now,
        acknowledged: () => {
          polling.failed(request, now);
        },
      };
    }
  }

  private recordGaps(polling: ListingPolling): void {
    for (const missed of polling.takeGaps()) {
      this.deps.recordGap({ source: this.name, reason: 'listing_too_short', ...missed });
    }
  }
}
