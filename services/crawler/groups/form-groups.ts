import type { CommunityRate } from '../../../shared/stores/crawl/community-rates.ts';

/** The forum takes about this many names in one path. */
export const MAX_NAMES = 100;
/** A page holds a hundred items; the rest is room for the chance of a busy moment. */
export const FRESH_PER_PAGE = 70;
export const MIN_INTERVAL_MS = 2_000;
export const MAX_INTERVAL_MS = 45_000;
/** Calls that bring fewer comments that nothing else shows are not worth it. */
const MIN_GAIN_PER_CALL = 0.05;
/** A community with posts has about as many comments, if the listing of all communities does not show its comments. */
const COMMENTS_PER_POST = 4;
/** The chance that it is so. */
const UNLISTED_CHANCE = 0.5;
/** The loss of a community counts as measured after many more comments than this; before, that of all does. */
const PRIOR_CHECKS = 10;
/** Room in the budget for deeper pages. */
const DEEPER_PART = 0.1;

export interface PlannedGroup {
  names: string[];
  /** Expected comments a second. */
  perSecond: number;
  /** Expected comments a second that only this group shows. */
  gain: number;
}

export interface Formation {
  /** Busiest communities first. */
  groups: PlannedGroup[];
  /** Communities that are worth their calls, but the budget does not suffice for them. */
  leftOut: number;
}

interface Candidate {
  name: string;
  perSecond: number;
  gain: number;
  /** Expected gain of a call, in a group of its like. */
  gainPerCall: number;
}

/**
 * Forms groups of communities so that a call brings about 70 new comments, or 100 names share it if they are quiet.
 * Communities with the highest gain per call come first, as far as the budget reaches; the loss of the listing of all
 * communities is what a group gains.
 *
 * @param options.perSecond budget in calls a second
 * @param options.loss the part of all comments that the listing of all communities does not show, from 0 to 1
 */
export function formGroups(
  rates: readonly CommunityRate[],
  { perSecond, loss }: { perSecond: number; loss: number },
): Formation {
  const candidates = rates
    .map((rate) => candidateOf(rate, loss))
    .filter(({ gainPerCall }) => gainPerCall >= MIN_GAIN_PER_CALL)
    .sort((a, b) => b.gainPerCall - a.gainPerCall || (a.name < b.name ? -1 : 1));
  const budget = perSecond * (1 - DEEPER_PART);
  const chosen: Candidate[] = [];
  let cost = 0;
  for (const candidate of candidates) {
    cost += Math.max(candidate.perSecond / FRESH_PER_PAGE, 1000 / (MAX_NAMES * MAX_INTERVAL_MS));
    // Even a small budget reaches for one group.
    if (cost > budget && chosen.length >= MAX_NAMES) break;
    chosen.push(candidate);
  }
  const packed = pack(chosen);
  const groups = affordable(packed, budget);
  const kept = groups.reduce((sum, { names }) => sum + names.length, 0);
  const worthless = packed.filter((group) => gainPerCallOf(group) < MIN_GAIN_PER_CALL);
  const leftOut = candidates.length - kept - worthless.reduce((sum, { names }) => sum + names.length, 0);
  return { groups, leftOut };
}

function candidateOf(rate: CommunityRate, loss: number): Candidate {
  const isUnseen = rate.comments === 0 && rate.checked < 1;
  const perSecond = isUnseen ? COMMENTS_PER_POST * rate.posts : rate.comments;
  const missed = isUnseen ? UNLISTED_CHANCE : (rate.missed + PRIOR_CHECKS * loss) / (rate.checked + PRIOR_CHECKS);
  const gain = perSecond * missed;
  const perCall = Math.min(FRESH_PER_PAGE, (perSecond * MAX_NAMES * MAX_INTERVAL_MS) / 1000);
  return { name: rate.subreddit, perSecond, gain, gainPerCall: perCall * missed };
}

/** Fills groups with communities of similar rates: the busy ones share short intervals, the quiet ones long ones. */
function pack(candidates: readonly Candidate[]): PlannedGroup[] {
  const groups: PlannedGroup[] = [];
  const most = (FRESH_PER_PAGE * 1000) / MIN_INTERVAL_MS;
  let open: PlannedGroup | undefined;
  for (const { name, perSecond, gain } of [...candidates].sort((a, b) => b.perSecond - a.perSecond)) {
    if (!open || open.names.length >= MAX_NAMES || open.perSecond + perSecond > most) {
      open = { names: [], perSecond: 0, gain: 0 };
      groups.push(open);
    }
    open.names.push(name);
    open.perSecond += perSecond;
    open.gain += gain;
  }
  return groups;
}

/** The groups with the highest gain per call, as far as the budget reaches, in their old order. */
function affordable(groups: readonly PlannedGroup[], budget: number): PlannedGroup[] {
  let left = budget;
  const kept = new Set<PlannedGroup>();
  for (const group of [...groups].sort((a, b) => gainPerCallOf(b) - gainPerCallOf(a))) {
    const cost = callsPerSecond(group.perSecond);
    if (gainPerCallOf(group) < MIN_GAIN_PER_CALL || cost > left) continue;
    left -= cost;
    kept.add(group);
  }
  return groups.filter((group) => kept.has(group));
}

function gainPerCallOf({ gain, perSecond }: PlannedGroup): number {
  return gain / callsPerSecond(perSecond);
}

/** The calls that a group of this rate takes. */
function callsPerSecond(perSecond: number): number {
  const intervalMs = (FRESH_PER_PAGE * 1000) / Math.max(1e-9, perSecond);
  return 1000 / Math.max(MIN_INTERVAL_MS, Math.min(MAX_INTERVAL_MS, intervalMs));
}
