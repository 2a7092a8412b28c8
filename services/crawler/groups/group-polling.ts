import type { CommunityRate } from '../../../shared/crawl/community-rates.ts';
import { CallAllowance } from '../pace.ts';
import type { MissedStretch } from '../listing-segment.ts';
import type { ListingPage } from '../listing-timeline.ts';
import { CommunityGroup } from './community-group.ts';
import { formGroups, formSlowGroups, MAX_NAMES, SLOW_INTERVAL_MS } from './form-groups.ts';
import type { Candidate, PlannedGroup } from './form-groups.ts';
import { knownParts, LeftOutCommunities } from './group-position.ts';
import type { GroupPosition, SavedReading } from './group-position.ts';

export const MAX_GROUP_CALLS = 8;
/** How often groups are formed again, because communities change. */
const FORM_INTERVAL_MS = 600_000;
/** The same when the budget has changed by this factor. */
const BUDGET_INTERVAL_MS = 60_000;
const BUDGET_CHANGE = 1.5;
const FORM_RETRY_MS = 5_000;
/** Until then the rates are those of minutes, so groups are formed at every BUDGET_INTERVAL_MS. */
const FIRST_FORMATIONS = 5;
const BURST_SECONDS = 10;
const MAX_WAIT_MS = 1_000;
/** Groups with shorter intervals are saved one by one: their listings do not reach back far. */
const SAVED_INTERVAL_MS = 20_000;

export interface GroupRequest {
  group: CommunityGroup;
  /** Undefined: the newest page. */
  after: string | undefined;
  sentAt: number;
}

export type GroupGap = MissedStretch & { communities: readonly string[] };

/**
 * Decides which groups of communities to poll, and when: forms them by rates and budget, polls each in an interval that
 * brings about 80 new comments a page, and reads deeper after an overflow. Knows no clock and no network; times are
 * milliseconds since 1970.
 */
export class GroupPolling {
  /** Communities that are worth their calls, but the budget does not suffice for them. */
  leftOut = 0;
  private groups: CommunityGroup[] = [];
  private readonly allowance = new CallAllowance(BURST_SECONDS);
  private readonly refusedNames = new RefusedNames();
  private newestAnsweredAt = -Infinity;
  private newestFailedAt = -Infinity;
  private gaps: GroupGap[] = [];
  private formedAt: number | undefined;
  private formations = 0;
  private formNotBefore = -Infinity;
  private plannedPerSecond = 0;
  private readonly leftOutCommunities = new LeftOutCommunities(SLOW_INTERVAL_MS);
  /** As the process that read before left it. */
  private saved: SavedReading;

  /** @param saved as the process before left it; undefined for a source without history */
  constructor(saved?: SavedReading) {
    this.saved = saved ?? { groups: [] };
  }

  /** True if groups should be formed now. `perSecond`: budget in calls a second. */
  mustForm(now: number, perSecond: number): boolean {
    if (now < this.formNotBefore) return false;
    const age = this.formedAt === undefined ? Infinity : now - this.formedAt;
    if (age < 0 || age >= FORM_INTERVAL_MS) return true;
    if (age < BUDGET_INTERVAL_MS) return false;
    const change = Math.max(perSecond / this.plannedPerSecond, this.plannedPerSecond / perSecond);
    return this.formations < FIRST_FORMATIONS || change > BUDGET_CHANGE;
  }

  /** Forms groups. Each continues where its communities were read to. */
  form(rates: readonly CommunityRate[], perSecond: number, now: number): void {
    const usable = rates.filter(({ subreddit }) => !this.refusedNames.has(subreddit, now));
    const { groups, quiet, leftOut } = formGroups(usable, perSecond);
    const before = new Map(this.groups.map((group) => [group.names.join('+'), group]));
    const { groups: old, saved: position } = this;
    const knownOf = knownParts({ saved: position, leftOut: this.leftOutCommunities, groups: old });
    const create = (plan: PlannedGroup): CommunityGroup => {
      const names = plan.members.map(({ name }) => name);
      const known = new Set(names.flatMap((name) => knownOf(name, plan.maxIntervalMs)));
      return before.get(names.join('+')) ?? new CommunityGroup(plan, [...known]);
    };
    this.groups = [...groups.map(create), ...this.formSlow(quiet, create)];
    const saved = this.saved.groups.map(({ names, at }) => ({ names, shownTo: at }));
    this.leftOutCommunities.learn([...saved, ...old], this.groups, now);
    this.leftOut = leftOut;
    // A community that no group has taken in since the start was read up to the saved time.
    const isRecent = (this.saved.rest ?? -Infinity) > now - SLOW_INTERVAL_MS;
    this.saved = isRecent ? { ...this.saved, groups: [] } : { groups: [] };
    this.formedAt = now;
    this.formations += 1;
    this.plannedPerSecond = perSecond;
  }

  /** Slow groups keep their communities as long as these stay quiet, so that each still reads from where it was. */
  private formSlow(quiet: readonly Candidate[], create: (plan: PlannedGroup) => CommunityGroup): CommunityGroup[] {
    const left = new Map(quiet.map((community) => [community.name, community]));
    const kept = this.groups.flatMap((group): CommunityGroup[] => {
      if (group.maxIntervalMs !== SLOW_INTERVAL_MS) return [];
      const names = group.names.filter((name) => left.has(name));
      if (names.length < MAX_NAMES / 2) return [];
      for (const name of names) left.delete(name);
      return [names.length === group.names.length ? group : group.restrictedTo(names)];
    });
    return [...kept, ...formSlowGroups([...left.values()]).map(create)];
  }

  /** The rates could not be read: the groups stay as they are for a while. */
  delayForm(now: number): void {
    this.formNotBefore = now + (this.formedAt === undefined ? FORM_RETRY_MS : BUDGET_INTERVAL_MS);
  }

  /** The next call, or how long to wait for one. */
  next(now: number, perSecond: number): GroupRequest | { waitMs: number } {
    if (perSecond <= 0) return { waitMs: MAX_WAIT_MS };
    this.allowance.refill(now, perSecond);
    // The pages of a reading follow each other at once, before the listing moves on.
    const [chosen, most] = this.mostOverdue(now);
    const { waitMs } = this.allowance;
    if (waitMs > 0 && most < Infinity) return { waitMs: Math.min(MAX_WAIT_MS, waitMs) };
    if (!chosen) {
      const dueAt = Math.min(Infinity, ...this.groups.map((group) => group.dueAt()));
      return { waitMs: Math.max(1, Math.min(MAX_WAIT_MS, dueAt - now)) };
    }
    const after = chosen.after;
    chosen.start(now);
    this.allowance.take();
    return { group: chosen, after, sentAt: now };
  }

  private mostOverdue(now: number): [CommunityGroup | undefined, number] {
    let chosen: CommunityGroup | undefined;
    let most = 1;
    for (const group of this.groups) {
      const overdue = group.overdue(now);
      if (overdue >= most) [chosen, most] = [group, overdue];
    }
    return [chosen, most];
  }

  /** Learns an answer after the broker has acknowledged all of it. */
  learn({ group, after, sentAt }: GroupRequest, page: ListingPage, now: number): void {
    if (after === undefined) this.newestAnsweredAt = now;
    const missed = group.learn(page, sentAt);
    if (missed) this.gaps.push({ ...missed, communities: group.names });
  }

  /** The call failed, or its items could not be published. */
  failed({ group, after }: GroupRequest, now: number): void {
    if (after === undefined) this.newestFailedAt = now;
    const missed = group.failed(now, this.newestAnsweredAt);
    if (missed) this.gaps.push({ ...missed, communities: group.names });
  }

  /** True from a failure of a newest page until the next answer to one. */
  get isFailing(): boolean {
    return this.newestFailedAt > this.newestAnsweredAt;
  }

  /**
   * The forum refuses the group, or says that it is elsewhere: one of the names may be the reason. The halves of the
   * group are tried. Returns a name that is left out for a day from now on.
   */
  refused({ group }: GroupRequest, now: number): string | undefined {
    const [name] = group.names;
    if (name === undefined || this.refusedNames.isTooMany(now)) {
      group.failed(now);
      return undefined;
    }
    if (group.names.length > 1) {
      this.groups = this.groups.flatMap((other) => (other === group ? group.split() : [other]));
      return undefined;
    }
    this.refusedNames.add(name, now);
    this.groups = this.groups.filter((other) => other !== group);
    return name;
  }

  takeGaps(): GroupGap[] {
    const { gaps } = this;
    if (gaps.length > 0) this.gaps = [];
    return gaps;
  }

  position(): GroupPosition {
    if (this.formedAt === undefined) return this.saved;
    const read = this.groups.flatMap((group) =>
      group.shownTo === undefined
        ? []
        : [
            {
              names: group.names,
              at: group.shownTo,
              isFast: group.intervalMs < SAVED_INTERVAL_MS,
              isSlow: group.maxIntervalMs === SLOW_INTERVAL_MS,
            },
          ],
    );
    const earliest = (parts: typeof read): number | undefined =>
      parts.length === 0 ? undefined : Math.min(...parts.map(({ at }) => at));
    const slow = read.filter(({ isSlow }) => isSlow);
    const rest = read.filter(({ isFast, isSlow }) => !isFast && !isSlow);
    return {
      groups: [
        ...read.filter(({ isFast }) => isFast).map(({ names, at }) => ({ names, at })),
        ...this.leftOutCommunities.saved(),
      ],
      rest: earliest(rest.length > 0 ? rest : read),
      slow: earliest(slow),
    };
  }

  /** The communities of all groups that are not slow. */
  get promptNames(): string[] {
    return this.groups.filter(({ maxIntervalMs }) => maxIntervalMs !== SLOW_INTERVAL_MS).flatMap(({ names }) => names);
  }

  get groupCount(): number {
    return this.groups.length;
  }
}

const LEFT_OUT_MS = 86_400_000;
/** More names than this in a minute are no fault of the names. */
const MAX_A_MINUTE = 3;
const MINUTE_MS = 60_000;
const SUSPENDED_MS = 600_000;

/** Communities that the forum refuses to list. They are left out for a day. Times are milliseconds since 1970. */
export class RefusedNames {
  private readonly refusedAt = new Map<string, number>();
  private suspendedUntil = -Infinity;

  has(name: string, now: number): boolean {
    const at = this.refusedAt.get(name);
    if (at === undefined || now - at < LEFT_OUT_MS) return at !== undefined;
    this.refusedAt.delete(name);
    return false;
  }

  add(name: string, now: number): void {
    this.refusedAt.set(name, now);
  }

  /**
   * True if the forum has refused so many names that it may refuse all. Then those of the last minute are not left out,
   * and for ten minutes no name is blamed.
   */
  isTooMany(now: number): boolean {
    if (now < this.suspendedUntil) return true;
    const recent = [...this.refusedAt].filter(([, at]) => now - at < MINUTE_MS);
    if (recent.length < MAX_A_MINUTE) return false;
    for (const [name] of recent) this.refusedAt.delete(name);
    this.suspendedUntil = now + SUSPENDED_MS;
    return true;
  }
}
