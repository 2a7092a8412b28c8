import type { CommunityRate } from '../../../shared/stores/crawl/community-rates.ts';
import { freshOfPages } from '../listings/listing-segment.ts';
import type { Candidate, Choice } from './choose-communities.ts';
import { chooseCommunities } from './choose-communities.ts';
import { MIN_INTERVAL_MS } from './reading-plan.ts';

/** The forum takes about this many names in one path. */
export const MAX_NAMES = 100;
/** Of the communities that are worth it, so that their comments are seen within a minute. */
const MAX_INTERVAL_MS = 50_000;
/** Of all others, whose pages fill slowly: their comments are seen within the hour. */
export const SLOW_INTERVAL_MS = 2_400_000;
/**
 * The pages of a reading, from the newest down to what is known. Several pages need less room for chance, so while the
 * budget is short each call brings more, though later.
 */
const AMPLE_PAGES = 1;
const SHORT_PAGES = 3;
/**
 * Calls with a lower gain are not worth it: a comment that is seen within a minute counts twice, and the sweep over
 * threads finds about one a call, though later. More here lets more comments be seen within the hour, and fewer within
 * a minute.
 */
const MIN_GAIN_PER_CALL = 0.45;
/** A community with posts has about as many comments, if the listing of all communities does not show its comments. */
const COMMENTS_PER_POST = 4;
/** The chance that it is so. */
const UNLISTED_CHANCE = 0.5;
/** The loss of a community counts as measured after many more comments than this; before, that of all does. */
const PRIOR_CHECKS = 10;

export interface PlannedGroup {
  /** Busiest communities first. */
  members: Candidate[];
  maxIntervalMs: number;
  /** The most pages that a reading should have. */
  mostPages: number;
}

export interface Formation {
  /** Busiest communities first. */
  groups: PlannedGroup[];
  /** The quiet communities that slow groups can take in, busiest first. */
  quiet: Candidate[];
  /** Communities that are worth more calls, but the budget does not suffice for them. */
  leftOut: number;
  /** The most pages that a reading should have. */
  mostPages: number;
}

/**
 * Forms groups of communities so that the pages of a reading come back nearly full, or 100 names share a page if they
 * are quiet. The calls go where they gain most, as far as the budget reaches; the loss of the listing of all
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
    .filter(({ perSecond }) => perSecond > 0)
    .sort((a, b) => b.perSecond - a.perSecond);
  const ample = choose(candidates, perSecond, AMPLE_PAGES);
  const mostPages = ample.leftOut === 0 ? AMPLE_PAGES : SHORT_PAGES;
  const { fast, slow, leftOut } = ample.leftOut === 0 ? ample : choose(candidates, perSecond, SHORT_PAGES);
  return { groups: pack(fast, MAX_INTERVAL_MS, mostPages), quiet: slow, leftOut, mostPages };
}

/** Packs quiet communities, busiest first, into groups that are read when their pages have filled. */
export function formSlowGroups(quiet: readonly Candidate[], mostPages: number): PlannedGroup[] {
  return pack(quiet, SLOW_INTERVAL_MS, mostPages);
}

function choose(candidates: readonly Candidate[], budget: number, pages: number): Choice<Candidate> {
  return chooseCommunities(candidates, {
    budget,
    pages,
    leastFast: 1000 / (MAX_NAMES * MAX_INTERVAL_MS),
    leastSlow: 1000 / (MAX_NAMES * SLOW_INTERVAL_MS),
    minGainPerCall: MIN_GAIN_PER_CALL,
  });
}

function candidateOf(rate: CommunityRate, loss: number): Candidate {
  const isUnseen = rate.comments === 0 && rate.checked < 1;
  const perSecond = isUnseen ? COMMENTS_PER_POST * rate.posts : rate.comments;
  const missed = isUnseen ? UNLISTED_CHANCE : (rate.missed + PRIOR_CHECKS * loss) / (rate.checked + PRIOR_CHECKS);
  return { name: rate.subreddit, perSecond, gain: perSecond * missed, isUnseen };
}

/** Fills groups with communities, busiest first: the busy ones share short intervals, the quiet ones long ones. */
function pack(candidates: readonly Candidate[], maxIntervalMs: number, mostPages: number): PlannedGroup[] {
  const groups: PlannedGroup[] = [];
  const most = (freshOfPages(1) * 1000) / MIN_INTERVAL_MS;
  let open: Candidate[] = [];
  let perSecond = 0;
  for (const candidate of candidates) {
    if (open.length === 0 || open.length >= MAX_NAMES || perSecond + candidate.perSecond > most) {
      open = [];
      perSecond = 0;
      groups.push({ members: open, maxIntervalMs, mostPages });
    }
    open.push(candidate);
    perSecond += candidate.perSecond;
  }
  return groups;
}
