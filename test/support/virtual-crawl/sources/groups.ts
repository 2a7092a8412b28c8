import type { CommunityGroup } from '../../../../services/crawler/groups/community-group.ts';
import type { GroupPosition } from '../../../../services/crawler/groups/group-position.ts';
import type { GroupRequest } from '../../../../services/crawler/groups/group-polling.ts';
import { GroupPolling, MAX_IN_FLIGHT } from '../../../../services/crawler/groups/group-polling.ts';
import { SLICES } from '../../../../services/crawler/groups/group-source.ts';
import type { SourceContext } from '../virtual-crawl.ts';
import type { VirtualCall, VirtualSource } from '../virtual-source.ts';

/** GroupPolling, driven as GroupSource drives it. */
export class VirtualGroups implements VirtualSource {
  readonly name: string;
  readonly maxInFlight = MAX_IN_FLIGHT;
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
