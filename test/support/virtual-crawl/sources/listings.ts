import type { CommunityGroup } from '../../../../services/crawler/groups/community-group.ts';
import { GroupPolling, MAX_GROUP_CALLS } from '../../../../services/crawler/groups/group-polling.ts';
import type { GroupRequest } from '../../../../services/crawler/groups/group-polling.ts';
import type { GroupPosition } from '../../../../services/crawler/groups/group-position.ts';
import { SLICES } from '../../../../services/crawler/groups/group-source.ts';
import { ListingPolling, MAX_LISTING_CALLS } from '../../../../services/crawler/listing-source.ts';
import type { PollRequest } from '../../../../services/crawler/listing-source.ts';
import type { ListingPosition } from '../../../../services/crawler/listing-timeline.ts';
import type { SourceContext } from '../virtual-crawl.ts';
import type { VirtualCall, VirtualSource } from '../virtual-process.ts';

export interface ListingPlan {
  name: string;
  path: '/r/all/comments' | '/r/all/new';
  intervalMs: number;
  latencyShare: number;
}

/** ListingPolling, driven as ListingSource drives it. */
export class VirtualListing implements VirtualSource {
  readonly name: string;
  readonly maxInFlight = MAX_LISTING_CALLS;
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

/** GroupPolling, driven as GroupSource drives it. */
export class VirtualGroups implements VirtualSource {
  readonly name: string;
  readonly maxInFlight = MAX_GROUP_CALLS;
  private readonly slice: number;
  private readonly context: SourceContext;
  private readonly communitiesOf = new WeakMap<CommunityGroup, readonly number[]>();
  private polling = new GroupPolling();

  constructor(slice: number, context: SourceContext) {
    this.name = `listings:groups:${slice}`;
    this.slice = slice;
    this.context = context;
  }

  begin(position: unknown): void {
    this.polling = new GroupPolling(position as GroupPosition | undefined);
    this.context.process.groupBudget.set(this.name, 1 / SLICES, false);
  }

  next(now: number): VirtualCall | { waitMs: number } {
    const { polling } = this;
    const { groupBudget } = this.context.process;
    if (polling.mustForm(now, groupBudget.perSecond(this.name, now))) this.form(now);
    const request = polling.next(now, groupBudget.perSecond(this.name, now));
    return 'waitMs' in request ? request : this.call(polling, request);
  }

  position(): unknown {
    return this.polling.position();
  }

  private form(now: number): void {
    const { process, rates, forum } = this.context;
    const { communities, share } = rates.read(this.slice, SLICES, now - forum.options.startsAt);
    process.groupBudget.set(this.name, share, false);
    this.polling.form(communities, process.groupBudget.perSecond(this.name, now), now);
    process.groupBudget.set(this.name, share, this.polling.leftOut > 0);
  }

  private call(polling: GroupPolling, request: GroupRequest): VirtualCall {
    const { reader, gaps } = this.context;
    return {
      request: {
        path: '/r/communities/comments',
        communities: this.communities(request.group),
        after: request.after,
      },
      lane: 'groups',
      purpose: request.after === undefined ? 'groups' : 'groups deeper',
      succeeded: (answer, seenAt) => {
        const items = answer.comments.map((index) => reader.comment(index));
        polling.learn(request, { items, after: answer.after }, seenAt);
        gaps.push(...polling.takeGaps().map((missed) => ({ source: this.name, ...missed })));
      },
      failed: (_error, now) => {
        polling.failed(request, now);
      },
    };
  }

  private communities(group: CommunityGroup): readonly number[] {
    const known = this.communitiesOf.get(group);
    if (known) return known;
    const communities = group.names.map((name) => Number(name.slice(1)));
    this.communitiesOf.set(group, communities);
    return communities;
  }
}
