import { z } from 'zod';
import type { CrawlGap } from '../../../shared/stores/crawl/crawl-gaps.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { fullnameOf } from '../../../shared/upstream/parsing/thing-schema.ts';
import type { Upstream } from '../../../shared/upstream/upstream-client.ts';
import { UpstreamError } from '../../../shared/upstream/upstream-error.ts';
import type { Call, CrawlSource, Wait } from '../crawl-source.ts';
import type { Listed, PageVerdict } from './listing-pass.ts';
import { ListingPass } from './listing-pass.ts';
import type { Pace } from '../pace.ts';
import { readThings } from '../read-things.ts';
import type { Round } from '../serial-calls.ts';
import { SerialCalls } from '../serial-calls.ts';

const PAGE_SIZE = 100;
/** A page should hold no more than about this many new items, so that a burst does not overflow it. */
const NEW_PER_PAGE = 60;
const MIN_INTERVAL_MS = 100;
/** The weight of the latest measurement in the moving average of the rate. */
const RATE_WEIGHT = 0.3;

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
  /** The longest interval between two reads of the newest page, in milliseconds. */
  intervalMs: number;
}

/**
 * Polls the newest page of a listing, and reads older pages when the newest one does not reach the items of an earlier
 * pass.
 */
export class ListingSource implements CrawlSource {
  readonly name: string;
  readonly label = 'listings';
  readonly replay = false;
  readonly maxInFlight = 1;
  private readonly plan: ListingPlan;
  private readonly deps: ListingSourceDeps;
  private readonly calls: SerialCalls;
  private pass = new ListingPass();
  private itemsPerSecond = 0;
  private lastFirstPageAt: number | undefined;

  constructor(plan: ListingPlan, deps: ListingSourceDeps) {
    this.name = plan.name;
    this.plan = plan;
    this.deps = deps;
    this.calls = new SerialCalls(deps.clock);
  }

  async begin(position: unknown): Promise<void> {
    this.pass = new ListingPass(position === undefined ? undefined : savedPosition.parse(position));
    this.lastFirstPageAt = undefined;
    this.calls.reset();
  }

  next(now: number): Call | Wait {
    return this.calls.next(now, (signal) => this.round(signal));
  }

  private async round(signal: AbortSignal): Promise<Round> {
    const { upstream, clock } = this.deps;
    const startedAt = clock();
    const cursor = this.pass.cursor;
    const params = { limit: String(PAGE_SIZE), ...(cursor === undefined ? {} : { after: cursor }) };
    const body = await upstream.get(this.plan.path, params, { endpoint: this.plan.endpoint, lane: 'live', signal });
    const seenAt = clock();
    const page = readThings(body, { ...this.deps, label: this.label, endpoint: this.plan.endpoint });
    // A date in the future would move the bounds of a gap.
    const listed = page.things.map((thing): Listed => ({
      name: fullnameOf(thing),
      createdAt: Math.min(thing.data.created_utc * 1000, seenAt),
    }));
    if (listed.length === 0 && this.pass.isFirstPage && this.pass.hasHistory) {
      throw new UpstreamError('broken', `${this.plan.path} is empty; it held items before`, {
        reason: 'empty_listing',
      });
    }
    const verdict = this.pass.judge(listed, page.after);
    if (this.pass.isFirstPage) this.measure(listed, verdict, seenAt);
    const spentMs = clock() - startedAt;
    return {
      things: page.things,
      unreadable: page.unreadable,
      seenAt,
      acknowledged: () => {
        this.accept(listed, verdict);
      },
      pauseMs: verdict.outcome === 'deeper' ? 0 : Math.max(0, this.intervalMs() - spentMs),
    };
  }

  position(): unknown {
    return this.pass.position();
  }

  async end(): Promise<void> {
    this.deps.pace.remove(this.name);
  }

  private accept(listed: readonly Listed[], verdict: PageVerdict): void {
    if (verdict.outcome === 'gap') {
      const { missed } = verdict;
      this.deps.recordGap({ source: this.name, reason: 'listing_too_short', ...missed });
      this.deps.metrics.crawlerGaps.inc({ source: this.name });
      this.deps.logger.warn(
        { source: this.name, ...missed },
        'a listing no longer reaches the last item seen; a gap is recorded',
      );
    }
    this.pass.accept(listed, verdict);
  }

  private measure(listed: readonly Listed[], verdict: PageVerdict, now: number): void {
    if (verdict.outcome === 'deeper' || verdict.outcome === 'gap') {
      this.deps.metrics.crawlerOverflows.inc({ source: this.label });
    }
    if (this.lastFirstPageAt !== undefined && now > this.lastFirstPageAt) {
      const rate = (this.pass.countNew(listed) * 1000) / (now - this.lastFirstPageAt);
      this.itemsPerSecond += RATE_WEIGHT * (rate - this.itemsPerSecond);
    }
    this.lastFirstPageAt = now;
  }

  private intervalMs(): number {
    const fillMs = (NEW_PER_PAGE * 1000) / Math.max(0.001, this.itemsPerSecond);
    const requestedMs = Math.max(MIN_INTERVAL_MS, Math.min(this.plan.intervalMs, fillMs));
    return this.deps.pace.intervalMs(this.name, requestedMs);
  }
}
