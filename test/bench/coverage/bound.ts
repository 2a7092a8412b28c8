import type { Forum } from '../../support/forum-model/forum.ts';
import { IN_ALL, IN_COMMUNITY } from '../../support/forum-model/stores.ts';

const PAGE = 100;
const NAMES = 100;
/** The candidates for the part of /r/all/comments that is read, and for the number of grouped communities. */
const PARTS_OF_ALL = [0, 0.25, 0.5, 0.75, 1];
const GROUPED = [0, 100, 300, 600, 1_000, 2_000, 3_500, 5_000, 8_000, 12_000, 18_000, 26_000, 40_000, 60_000, 100_000];

/**
 * The largest share of the comments of a stretch of time that any planner could see within the length of the stretch,
 * with so many calls. The planner of this bound knows everything beforehand, and each of its calls is as good as a call
 * can be:
 *
 * 1. Posts come first: a hundred ids a call.
 * 2. A part of /r/all/comments in full pages without overlap. It brings what the listing did not drop.
 * 3. The communities with the highest rates in groups, in order of rate. A group has a hundred names, or fewer that
 *    fill pages of a hundred; it is read once in the stretch, or as often as full pages need.
 * 4. With the calls that are left, the threads that hold most of what is still missing, one call each, because
 *    num_comments can tell which these are. A call brings everything of the thread.
 *
 * The bound is the best over combinations of the part in step 2 and the number of communities in step 3. Within a step
 * the calls are ordered by what a call brings, so a combination takes the calls of the highest marginal value first. A
 * real crawler needs pages that overlap, does not know rates and threads beforehand, and must find out what is missing.
 */
export function perfectShare(forum: Forum, callsPerSecond: number, { fromMs, toMs }: { fromMs: number; toMs: number }) {
  const window = commentsOf(forum, fromMs, toMs);
  const calls = (callsPerSecond * (toMs - fromMs)) / 1000 - postIdsOf(forum, fromMs, toMs) / PAGE;
  let best = 0;
  for (const part of PARTS_OF_ALL) {
    const left = calls - (part * window.listedInAll) / PAGE;
    if (left < 0) {
      best = Math.max(best, readOnlyAll(window, calls));
      continue;
    }
    for (const { communities, cost } of groupCosts(window.perCommunity)) {
      if (cost <= left) best = Math.max(best, seenWith(forum, window, { part, communities, threads: left - cost }));
    }
  }
  return best;
}

interface Window {
  from: number;
  to: number;
  listedInAll: number;
  perCommunity: Float64Array;
}

function commentsOf(forum: Forum, fromMs: number, toMs: number): Window {
  const from = forum.comments.countAt(fromMs);
  const to = forum.comments.countAt(toMs);
  const perCommunity = new Float64Array(forum.shares.length);
  let listedInAll = 0;
  for (let index = from; index < to; index++) {
    if (forum.comments.visibleIn[index]! & IN_ALL) listedInAll += 1;
    if (forum.comments.visibleIn[index]! & IN_COMMUNITY)
      perCommunity[forum.posts.community[forum.comments.post[index]!]!]! += 1;
  }
  return { from, to, listedInAll, perCommunity };
}

function postIdsOf({ posts, firstPost }: Forum, fromMs: number, toMs: number): number {
  let count = 0;
  for (let ordinal = firstPost; ordinal < posts.count; ordinal++) {
    if (posts.createdAt[ordinal]! >= fromMs && posts.createdAt[ordinal]! < toMs) count += 1;
  }
  return count;
}

function readOnlyAll({ from, to }: Window, calls: number): number {
  return Math.max(0, (calls * PAGE) / (to - from));
}

/** The calls that reading the first communities takes, for each number in GROUPED. Rank is the order of rates. */
function groupCosts(perCommunity: Float64Array): { communities: number; cost: number }[] {
  const costs: { communities: number; cost: number }[] = [];
  let cost = 0;
  let names = 0;
  let comments = 0;
  for (let rank = 0; rank <= perCommunity.length; rank++) {
    if (GROUPED.includes(rank)) costs.push({ communities: rank, cost: cost + (names > 0 ? 1 : 0) });
    const next = perCommunity[rank] ?? 0;
    if (names + 1 > NAMES || comments + next > PAGE) {
      cost += Math.max(comments / PAGE, names > 0 ? 1 : 0);
      names = 0;
      comments = 0;
    }
    names += 1;
    comments += next;
  }
  return costs;
}

function seenWith(
  forum: Forum,
  { from, to }: Window,
  { part, communities, threads }: { part: number; communities: number; threads: number },
): number {
  const { comments, posts } = forum;
  const missing = new Map<number, number>();
  let missed = 0;
  for (let index = from; index < to; index++) {
    const visibleIn = comments.visibleIn[index]!;
    const post = comments.post[index]!;
    const isGrouped = (visibleIn & IN_COMMUNITY) !== 0 && posts.community[post]! < communities;
    // Spreads the pages that are read evenly over the stretch.
    const isRead = (visibleIn & IN_ALL) !== 0 && (index % 20) / 20 < part;
    if (isGrouped || isRead) continue;
    missed += 1;
    missing.set(post, (missing.get(post) ?? 0) + 1);
  }
  const bySize = Float64Array.from(missing.values()).sort().reverse();
  const found = bySize.subarray(0, Math.floor(threads)).reduce((sum, count) => sum + count, 0);
  return to === from ? 1 : 1 - (missed - found) / (to - from);
}
