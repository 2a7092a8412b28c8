import type { TrackedPosts } from './tracked-posts.ts';

/** A post that is older by more than this than a missed time is not expected to have had comments in it. */
const OLDER_MS = 2 * 24 * 3_600_000;

/** A time in which a source may have missed comments; all in milliseconds since 1970. */
export interface MissedTime {
  afterAt: number;
  beforeAt: number;
  /** Posts that were checked later than this, and than the end, have been checked for it. */
  openedAt: number;
  /** The communities it concerns, as `communityKey`; default: all. */
  communities?: ReadonlySet<number> | undefined;
}

/** A missed time that is worked on. */
export interface WorkedOnTime extends MissedTime {
  /**
   * By slot, 1 for a post that some plan found unchecked since, or the first plan checked before it knew of the time.
   * What was checked before it could be expected to have had comments in that time does not wait for a reading: posts
   * that become busy later would keep a gap open.
   */
  waited: Uint8Array;
  /** No plan has considered it yet. */
  isNew: boolean;
}

/** After this a check covers the time: its end is later than its opening when its source has extended it. */
export function coveredSince({ openedAt, beforeAt }: MissedTime): number {
  return Math.max(openedAt, beforeAt);
}

/** Whether the post may have had comments in the time that no complete reading has found since. */
export function mayConcern(posts: TrackedPosts, slot: number, time: MissedTime): boolean {
  const createdAt = posts.createdAt[slot]!;
  if (createdAt > time.beforeAt || createdAt < time.afterAt - OLDER_MS) return false;
  if (posts.completeAt[slot]! > coveredSince(time)) return false;
  const community = posts.community[slot]!;
  return time.communities === undefined || community === 0 || time.communities.has(community);
}
