import { freshPerCall } from './reading-plan.ts';

export interface Candidate {
  name: string;
  /** Expected comments a second, and those that only its listing shows. */
  perSecond: number;
  gain: number;
  /** No source has shown a comment of it: that it has any is a guess. */
  isUnseen?: boolean;
}

export interface Choice<C extends Candidate> {
  /** Communities for groups that are read within a minute, and for groups that are read when their pages fill. */
  fast: C[];
  slow: C[];
  /** Communities that are worth more calls, but the budget does not suffice for them. */
  leftOut: number;
}

export interface ChoiceLimits {
  /** Calls a second. */
  budget: number;
  /** The pages of a reading. */
  pages: number;
  /** The least that a community costs in calls a second in a fast group and in a slow one, however quiet it is. */
  leastFast: number;
  leastSlow: number;
  /** Calls that bring less are not worth it. */
  minGainPerCall: number;
}

/** Calls that would be spent on a community: to see what it gains within the hour, or also within a minute. */
interface Step<C> {
  candidate: C;
  speed: 'slow' | 'fast';
  cost: number;
  gainPerCall: number;
}

/**
 * Chooses how to spend calls on communities: those that bring most come first. To see a comment within the hour counts
 * as one comment gained, to see it within a minute as another one. So busy communities, whose pages fill in a minute
 * anyway, come first, then slow groups of all others, then faster ones of those that are worth it.
 */
export function chooseCommunities<C extends Candidate>(candidates: readonly C[], limits: ChoiceLimits): Choice<C> {
  const steps = candidates.flatMap((candidate) => stepsOf(candidate, limits));
  steps.sort((a, b) => b.gainPerCall - a.gainPerCall || (a.candidate.name < b.candidate.name ? -1 : 1));
  const speeds = new Map<C, Step<C>['speed']>();
  const leftOut = new Set<C>();
  let left = limits.budget;
  for (const { candidate, speed, cost } of steps) {
    // A quieter one may still fit.
    if (cost > left || leftOut.has(candidate)) {
      leftOut.add(candidate);
      continue;
    }
    left -= cost;
    speeds.set(candidate, speed);
  }
  const chosen = (speed: Step<C>['speed']): C[] => candidates.filter((candidate) => speeds.get(candidate) === speed);
  return { fast: chosen('fast'), slow: chosen('slow'), leftOut: leftOut.size };
}

/** Adds up a rate of some communities. */
export function sumOf(candidates: readonly Candidate[], rate: 'perSecond' | 'gain'): number {
  return candidates.reduce((sum, candidate) => sum + candidate[rate], 0);
}

function stepsOf<C extends Candidate>(candidate: C, limits: ChoiceLimits): Step<C>[] {
  const { perSecond, gain } = candidate;
  const full = perSecond / freshPerCall(limits.pages);
  const fast = Math.max(full, limits.leastFast);
  const slow = Math.max(full, limits.leastSlow);
  // A slow group that costs more than half of a fast one is no choice of its own.
  const steps: Step<C>[] =
    fast < 2 * slow
      ? [{ candidate, speed: 'fast', cost: fast, gainPerCall: (2 * gain) / fast }]
      : [
          { candidate, speed: 'slow', cost: slow, gainPerCall: gain / slow },
          { candidate, speed: 'fast', cost: fast - slow, gainPerCall: gain / (fast - slow) },
        ];
  return steps.filter(({ gainPerCall }) => gainPerCall >= limits.minGainPerCall);
}
