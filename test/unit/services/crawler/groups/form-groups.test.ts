import { describe, expect, test } from 'vitest';
import { sumOf } from '../../../../../services/crawler/groups/choose-communities.ts';
import type { PlannedGroup } from '../../../../../services/crawler/groups/form-groups.ts';
import { formGroups, formSlowGroups } from '../../../../../services/crawler/groups/form-groups.ts';
import { callsPerSecond, planReadings } from '../../../../../services/crawler/groups/reading-plan.ts';
import type { CommunityRate } from '../../../../../shared/stores/crawl/community-rates.ts';

function rate(subreddit: string, comments: number, more: Partial<CommunityRate> = {}): CommunityRate {
  return { subreddit, comments, posts: 0, checked: 0, missed: 0, ...more };
}

/** 132 comments a second in communities whose rates follow Zipf's law with exponent 1.1, as on the real site. */
function site(communities: number): CommunityRate[] {
  const weights = Array.from({ length: communities }, (_, n) => (n + 1) ** -1.1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight, n) => rate(`c${n}`, (132 * weight) / total));
}

function total(groups: readonly PlannedGroup[], rate: 'perSecond' | 'gain' = 'perSecond'): number {
  return groups.reduce((sum, { members }) => sum + sumOf(members, rate), 0);
}

function callsOf(groups: readonly PlannedGroup[]): number {
  return groups.reduce((sum, { members, mostPages, maxIntervalMs }) => {
    return sum + callsPerSecond(planReadings(sumOf(members, 'perSecond'), mostPages, maxIntervalMs));
  }, 0);
}

function namesOf(groups: readonly PlannedGroup[]): string[] {
  return groups.flatMap(({ members }) => members.map(({ name }) => name));
}

describe('formGroups', () => {
  test('covers most comments of the site with about four calls a second', () => {
    const rates = site(100_000);
    const { groups, quiet, leftOut, mostPages } = formGroups(rates, { perSecond: 4, loss: 0.2 });
    expect(total(groups) / 132).toBeGreaterThan(0.88);
    expect(leftOut).toBeGreaterThan(0);
    expect(mostPages).toBe(3);
    expect(callsOf([...groups, ...formSlowGroups(quiet, mostPages)])).toBeLessThanOrEqual(4.3);
    expect(Math.max(...groups.map(({ members }) => members.length))).toBe(100);
    expect(new Set(namesOf(groups)).size).toBe(namesOf(groups).length);
  });

  test('prefers communities whose comments no other listing shows', () => {
    const rates = [
      ...Array.from({ length: 100 }, (_, n) => rate(`listed${n}`, 0.001, { checked: 500, missed: 0 })),
      ...Array.from({ length: 100 }, (_, n) => rate(`unlisted${n}`, 0.0005, { checked: 500, missed: 500 })),
    ];
    const { groups, leftOut } = formGroups(rates, { perSecond: 0.03, loss: 0.1 });
    expect(groups).toHaveLength(1);
    expect(namesOf(groups).every((name) => name.startsWith('unlisted'))).toBe(true);
    expect(leftOut).toBe(0);
  });
});
