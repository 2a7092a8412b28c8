import { ListingPolling, MAX_IN_FLIGHT } from '../../../../services/crawler/listing-polling.ts';
import type { PollRequest } from '../../../../services/crawler/listing-polling.ts';
import type { ListingPosition } from '../../../../services/crawler/listing-timeline.ts';
import type { SourceContext } from '../virtual-crawl.ts';
import type { VirtualCall, VirtualSource } from '../virtual-source.ts';

export interface ListingPlan {
  name: string;
  path: '/r/all/comments' | '/r/all/new';
  intervalMs: number;
  latencyShare: number;
}

/** ListingPolling, driven as ListingSource drives it. */
export class VirtualListing implements VirtualSource {
  readonly name: string;
  readonly maxInFlight = MAX_IN_FLIGHT;
  private readonly plan: ListingPlan;
  private readonly context: SourceContext;
  private polling: ListingPolling;

  constructor(plan: ListingPlan, context: SourceContext) {
    this.name = plan.name;
    this.plan = plan;
    this.context = context;
    this.polling = new ListingPolling({ maxIntervalMs: plan.intervalMs });
  }

  begin(position: unknown): void {
    const saved = position as ListingPosition | undefined;
    this.polling = new ListingPolling({ maxIntervalMs: this.plan.intervalMs, position: saved });
  }

  next(now: number): VirtualCall | { waitMs: number } {
    const { polling, plan } = this;
    const { pace } = this.context.process;
    polling.setMaxInterval(pace.affordableMs(plan.latencyShare, plan.intervalMs));
    const request = polling.next(now, pace.perSecond(this.name, polling.wantedPerSecond));
    this.noteGaps(polling);
    return 'waitMs' in request ? request : this.call(polling, request);
  }

  position(): unknown {
    return this.polling.position();
  }

  private call(polling: ListingPolling, request: PollRequest): VirtualCall {
    const { reader } = this.context;
    return {
      request: { path: this.plan.path, after: request.after },
      lane: 'live',
      purpose: request.hole ? `${this.name} deeper` : this.name,
      succeeded: (answer, seenAt) => {
        const comments = answer.comments.map((index) => reader.comment(index));
        const posts = answer.posts.map((ordinal) => reader.post(ordinal));
        polling.learn(request, { items: [...comments, ...posts], after: answer.after }, seenAt);
        this.noteGaps(polling);
      },
      failed: (_error, now) => {
        polling.failed(request, now);
      },
    };
  }

  private noteGaps(polling: ListingPolling): void {
    for (const missed of polling.takeGaps()) this.context.gaps.push({ source: this.name, ...missed });
  }
}
