import type { CommunityRate } from '../../../shared/stores/crawl/community-rates.ts';

/** The forum takes about this many names in one path. */
export const MAX_NAMES = 100;
/** A page holds a hundred items; the rest is room for the chance of a busy moment. */
export const FRESH_PER_PAGE = 80;
export const MIN_INTERVAL_MS = 2_000;
/** Of the communities that are worth it, so that their comments are seen within a minute. */
export const MAX_INTERVAL_MS = 50_000;
/** Of all others, whose pages fill slowly: their comments are seen within the hour. */
export const SLOW_INTERVAL_MS = 2_400_000;
/** The part of the budget that the slow groups may take. */
const SLOW_PART = 0.15;
/**
 * Calls that bring fewer comments that nothing else shows are not worth it: the sweep over threads finds about one a
 * call, though later.
 */
const MIN_GAIN_PER_CALL = 0.2;
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
  /** Comments a second on average over a day. */
  usualPerSecond: number;
  /** Expected comments a second that only this group shows. */
  gain: number;
  maxIntervalMs: number;
}

export interface Formation {
  /** Busiest communities first. */
  groups: PlannedGroup[];
  /** The quiet communities that slow groups can take in, busiest first. */
  quiet: QuietCommunity[];
  /** Communities that are worth their calls, but the budget does not suffice for them. */
  leftOut: number;
}

export interface QuietCommunity {
  name: string;
  /** Expected comments a second, the average over a day, and those that only its listing shows. */
  perSecond: number;
  usualPerSecond: number;
  gain: number;
}

interface Candidate extends QuietCommunity {
  /** Expected gain of a call, in a group of its like. */
  gainPerCall: number;
}

/**
 * Forms groups of communities so that a call brings about 80 new comments, or 100 names share it if they are quiet.
 * Communities with the highest gain per call come first, as far as the budget reaches; the loss of the listing of all
 * communities is what a group gains.
 *
 * @param options.perSecond budget in calls a second
 * @param options.loss the part of all comments that the listing of all communities does not show, from 0 to 1
 * @param options.activity the rates of now as a multiple of `rates`, which are means over a day
 */
export function formGroups(
  rates: readonly CommunityRate[],
  { perSecond, loss, activity = 1 }: { perSecond: number; loss: number; activity?: number },
): Formation {
  const all = rates.map((rate) => candidateOf(rate, loss, activity)).filter(({ perSecond }) => perSecond > 0);
  const candidates = all
    .filter(({ gainPerCall }) => gainPerCall >= MIN_GAIN_PER_CALL)
    .sort((a, b) => b.gainPerCall - a.gainPerCall || (a.name < b.name ? -1 : 1));
  // An unlisted or a lossy community is worth a full page, however long that takes to fill.
  const lossy = all.filter(({ gain, perSecond }) => (FRESH_PER_PAGE * gain) / perSecond >= MIN_GAIN_PER_CALL);
  const slowBudget = Math.min(SLOW_PART * perSecond, slowCost(lossy));
  const budget = perSecond * (1 - DEEPER_PART) - slowBudget;
  const chosen: Candidate[] = [];
  let left = budget;
  for (const candidate of candidates) {
    const cost = Math.max(candidate.perSecond / FRESH_PER_PAGE, 1000 / (MAX_NAMES * MAX_INTERVAL_MS));
    // A quieter one may still fit.
    if (cost > left) continue;
    left -= cost;
    chosen.push(candidate);
  }
  const packed = pack(chosen, MAX_INTERVAL_MS);
  const groups = affordable(packed, budget);
  const kept = groups.reduce((sum, { names }) => sum + names.length, 0);
  const worthless = packed.filter((group) => gainPerCallOf(group) < MIN_GAIN_PER_CALL);
  const leftOut = candidates.length - kept - worthless.reduce((sum, { names }) => sum + names.length, 0);
  return { groups, quiet: quietOf(lossy, groups, slowBudget), leftOut };
}

/** Packs quiet communities into groups that are read when their page has filled. */
export function formSlowGroups(quiet: readonly QuietCommunity[]): PlannedGroup[] {
  return pack(quiet, SLOW_INTERVAL_MS);
}

/** The communities that are in no group, as far as the budget for slow groups reaches. */
function quietOf(all: readonly Candidate[], groups: readonly PlannedGroup[], slowBudget: number): QuietCommunity[] {
  const grouped = new Set(groups.flatMap(({ names }) => names));
  const quiet: QuietCommunity[] = [];
  let left = slowBudget;
  for (const candidate of all.filter(({ name }) => !grouped.has(name)).sort((a, b) => b.perSecond - a.perSecond)) {
    const cost = slowCost([candidate]);
    if (cost > left) continue;
    left -= cost;
    quiet.push(candidate);
  }
  return quiet;
}

/** Calls a second for communities in slow groups. */
function slowCost(candidates: readonly Candidate[]): number {
  const least = 1000 / (MAX_NAMES * SLOW_INTERVAL_MS);
  return candidates.reduce((sum, { perSecond }) => sum + Math.max(perSecond / FRESH_PER_PAGE, least), 0);
}

function candidateOf(rate: CommunityRate, loss: number, activity: number): Candidate {
  const isUnseen = rate.comments === 0 && rate.checked < 1;
  const usualPerSecond = isUnseen ? COMMENTS_PER_POST * rate.posts : rate.comments;
  const perSecond = activity * usualPerSecond;
  const missed = isUnseen ? UNLISTED_CHANCE : (rate.missed + PRIOR_CHECKS * loss) / (rate.checked + PRIOR_CHECKS);
  const gain = perSecond * missed;
  const perCall = Math.min(FRESH_PER_PAGE, (perSecond * MAX_NAMES * MAX_INTERVAL_MS) / 1000);
  return { name: rate.subreddit, perSecond, usualPerSecond, gain, gainPerCall: perCall * missed };
}

/** Fills groups with communities of similar rates: the busy ones share short intervals, the quiet ones long ones. */
function pack(candidates: readonly QuietCommunity[], maxIntervalMs: number): PlannedGroup[] {
  const groups: PlannedGroup[] = [];
  const most = (FRESH_PER_PAGE * 1000) / MIN_INTERVAL_MS;
  let open: PlannedGroup | undefined;
  for (const { name, perSecond, usualPerSecond, gain } of [...candidates].sort((a, b) => b.perSecond - a.perSecond)) {
    if (!open || open.names.length >= MAX_NAMES || open.perSecond + perSecond > most) {
      open = { names: [], perSecond: 0, usualPerSecond: 0, gain: 0, maxIntervalMs };
      groups.push(open);
    }
    open.names.push(name);
    open.perSecond += perSecond;
    open.usualPerSecond += usualPerSecond;
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
