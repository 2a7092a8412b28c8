import { expect, test } from 'vitest';
import type { Candidate } from '../../../../../services/crawler/groups/choose-communities.ts';
import { chooseCommunities } from '../../../../../services/crawler/groups/choose-communities.ts';

const LIMITS = { pages: 1, leastFast: 0.0002, leastSlow: 0.000_004, minGainPerCall: 0.2 };

/** A tenth of its comments is shown nowhere else. */
function candidate(name: string, perSecond: number): Candidate {
  return { name, perSecond, usualPerSecond: perSecond, gain: perSecond / 10 };
}

const names = (candidates: readonly Candidate[]): string[] => candidates.map(({ name }) => name);

test('spends calls on busy communities first, then on slow reading of the others, then on faster reading', () => {
  const busy = candidate('busy', 1);
  const quiet = candidate('quiet', 0.005);
  const choose = (budget: number) => {
    const { fast, slow, leftOut } = chooseCommunities([busy, quiet], { ...LIMITS, budget });
    return { fast: names(fast), slow: names(slow), leftOut };
  };
  expect(choose(0.0127)).toEqual({ fast: ['busy'], slow: ['quiet'], leftOut: 1 });
  expect(choose(0.0126)).toEqual({ fast: ['busy'], slow: [], leftOut: 1 });
  expect(choose(0.013)).toEqual({ fast: ['busy', 'quiet'], slow: [], leftOut: 0 });
  // A smaller one may fit where a larger one does not.
  expect(choose(0.0005)).toEqual({ fast: ['quiet'], slow: [], leftOut: 1 });
});

test('spends no calls that gain too little', () => {
  const silent = { ...candidate('silent', 1), gain: 0.001 };
  expect(chooseCommunities([silent], { ...LIMITS, budget: 10 })).toEqual({ fast: [], slow: [], leftOut: 0 });
});
