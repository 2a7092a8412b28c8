import type { CommunityRate } from '../../../shared/crawl/community-rates.ts';
import { FRESH_OF_PAGE } from '../listing-segment.ts';

/** The forum takes about this many names in one path. */
export const MAX_NAMES = 100;
export const MIN_INTERVAL_MS = 2_000;
/** Intervals of communities that are worth it, so that their comments are seen within a minute. */
const MAX_INTERVAL_MS = 50_000;
/** Intervals of all others, whose pages fill slowly: their comments are seen within the hour. */
export const SLOW_INTERVAL_MS = 2_400_000;
/**
 * Calls with a lower gain are not worth it: a comment that is seen within a minute counts twice, and the sweep over
 * threads finds about one a call, though later. More here lets more comments be seen within the hour, and fewer within
 * a minute.
 */
const MIN_GAIN_PER_CALL = 0.45;
/** The part of the comments that the listing of all communities drops; to measure it brought nothing. */
const LOSS = 0.1;
/** A community with posts has about as many comments, if the listing of all communities does not show its comments. */
const COMMENTS_PER_POST = 4;
/** The chance that it is so. */
const UNLISTED_CHANCE = 0.5;
/** Comments that a call brings, as one reading of fifteen needs a page more. */
const FRESH_PER_CALL = FRESH_OF_PAGE / (1 + 1 / 15);

export interface Candidate {
  name: string;
  /** Expected comments a second, and those that only its listing shows. */
  perSecond: number;
  gain: number;
  /** No source has shown a comment of it: that it has any is a guess. */
  isUnseen: boolean;
}

export interface PlannedGroup {
  /** Busiest communities first. */
  members: Candidate[];
  maxIntervalMs: number;
}

interface Formation {
  /** Busiest communities first. */
  groups: PlannedGroup[];
  /** The quiet communities that slow groups can take in, busiest first. */
  quiet: Candidate[];
  /** Communities that are worth more calls, but the budget does not suffice for them. */
  leftOut: number;
}

/** Calls that would be spent on a community: to see what it gains within the hour, or also within a minute. */
interface Step {
  candidate: Candidate;
  speed: 'slow' | 'fast';
  cost: number;
  gainPerCall: number;
}

/**
 * Forms groups of communities so that pages come back nearly full, or 100 names share a page if they are quiet. The
 * calls that bring most come first: to see a comment within the hour counts as one comment gained, to see it within a
 * minute as another one. So busy communities, whose pages fill in a minute anyway, come first, then slow groups of all
 * others, then faster ones of those that are worth it.
 *
 * @param perSecond budget in calls a second
 */
export function formGroups(rates: readonly CommunityRate[], perSecond: number): Formation {
  const candidates = rates
    .map(candidateOf)
    .filter((candidate) => candidate.perSecond > 0)
    .sort((a, b) => b.perSecond - a.perSecond);
  const steps = candidates.flatMap(stepsOf);
  steps.sort((a, b) => b.gainPerCall - a.gainPerCall || (a.candidate.name < b.candidate.name ? -1 : 1));
  const speeds = new Map<Candidate, Step['speed']>();
  const leftOut = new Set<Candidate>();
  let left = perSecond;
  for (const { candidate, speed, cost } of steps) {
    // A quieter one may still fit.
    if (cost > left || leftOut.has(candidate)) {
      leftOut.add(candidate);
      continue;
    }
    left -= cost;
    speeds.set(candidate, speed);
  }
  const chosen = (speed: Step['speed']): Candidate[] => candidates.filter((each) => speeds.get(each) === speed);
  return { groups: pack(chosen('fast'), MAX_INTERVAL_MS), quiet: chosen('slow'), leftOut: leftOut.size };
}

/** Packs quiet communities, busiest first, into groups that are read when their pages have filled. */
export function formSlowGroups(quiet: readonly Candidate[]): PlannedGroup[] {
  return pack(quiet, SLOW_INTERVAL_MS);
}

function candidateOf({ subreddit, comments, posts }: CommunityRate): Candidate {
  const isUnseen = comments === 0;
  const perSecond = isUnseen ? COMMENTS_PER_POST * posts : comments;
  return { name: subreddit, perSecond, gain: perSecond * (isUnseen ? UNLISTED_CHANCE : LOSS), isUnseen };
}

/** The costs are calls a second: even a quiet community takes one of the hundred slots of a group. */
function stepsOf(candidate: Candidate): Step[] {
  const { perSecond, gain } = candidate;
  const full = perSecond / FRESH_PER_CALL;
  const fast = Math.max(full, 1000 / (MAX_NAMES * MAX_INTERVAL_MS));
  const slow = Math.max(full, 1000 / (MAX_NAMES * SLOW_INTERVAL_MS));
  // A slow group that costs more than half of a fast one is no choice of its own.
  const steps: Step[] =
    fast < 2 * slow
      ? [{ candidate, speed: 'fast', cost: fast, gainPerCall: (2 * gain) / fast }]
      : [
          { candidate, speed: 'slow', cost: slow, gainPerCall: gain / slow },
          { candidate, speed: 'fast', cost: fast - slow, gainPerCall: gain / (fast - slow) },
        ];
  return steps.filter(({ gainPerCall }) => gainPerCall >= MIN_GAIN_PER_CALL);
}

/** Fills groups with communities, busiest first: the busy ones share short intervals, the quiet ones long ones. */
function pack(candidates: readonly Candidate[], maxIntervalMs: number): PlannedGroup[] {
  const groups: PlannedGroup[] = [];
  const most = (FRESH_OF_PAGE * 1000) / MIN_INTERVAL_MS;
  let open: Candidate[] = [];
  let perSecond = 0;
  for (const candidate of candidates) {
    if (open.length === 0 || open.length >= MAX_NAMES || perSecond + candidate.perSecond > most) {
      open = [];
      perSecond = 0;
      groups.push({ members: open, maxIntervalMs });
    }
    open.push(candidate);
    perSecond += candidate.perSecond;
  }
  return groups;
}
