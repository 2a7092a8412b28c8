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

function total(groups: readonly PlannedGroup[], rate: 'perSecond' | 'usualPerSecond' | 'gain' = 'perSecond'): number {
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
    expect(callsOf([...groups, ...formSlowGroups(quiet, mostPages)])).toBeLessThanOrEqual(4.05);
    expect(Math.max(...groups.map(({ members }) => members.length))).toBe(100);
    expect(new Set(namesOf(groups)).size).toBe(namesOf(groups).length);
  });

  test('puts no more into a group than a page brings in two seconds', () => {
    const { groups, mostPages } = formGroups(site(1000), { perSecond: 50, loss: 0.1 });
    expect(Math.max(...groups.map((group) => total([group])))).toBeLessThanOrEqual(42.5);
    expect(mostPages).toBe(1);
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

  test('takes posts as evidence of comments that were never seen', () => {
    const { groups } = formGroups([rate('silent', 0, { posts: 0.01 })], { perSecond: 1, loss: 0.1 });
    expect(groups).toMatchObject([{ members: [{ name: 'silent', perSecond: 0.04, gain: 0.02 }] }]);
  });

  test('forms no group that gains less than a comment in five calls', () => {
    const quiet = Array.from({ length: 50 }, (_, n) => rate(`c${n}`, 0.0001));
    expect(formGroups(quiet, { perSecond: 5, loss: 0.1 })).toMatchObject({ groups: [], leftOut: 0 });
    const listed = site(1000).map((each) => ({ ...each, checked: 1e6 }));
    expect(formGroups(listed, { perSecond: 5, loss: 0 })).toMatchObject({ groups: [], quiet: [], leftOut: 0 });
  });

  test('reads quiet communities in slow groups, with a small part of the budget', () => {
    const { groups, quiet, mostPages } = formGroups(site(100_000), { perSecond: 5, loss: 0.1 });
    const grouped = new Set(namesOf(groups));
    expect(quiet.length + grouped.size).toBe(100_000);
    expect(quiet.some(({ name }) => grouped.has(name))).toBe(false);
    expect(callsOf(formSlowGroups(quiet, mostPages))).toBeLessThan(0.15 * 5);
  });

  test('plans with the rates of now, which differ from the average over a day', () => {
    const night = formGroups(site(1000), { perSecond: 50, loss: 0.1, activity: 0.5 }).groups;
    expect(total(night)).toBeCloseTo(66);
    expect(total(night, 'usualPerSecond')).toBeCloseTo(132);
  });

  test('skips a community that exceeds a small budget for smaller ones', () => {
    const rates = [rate('huge', 50), ...Array.from({ length: 30 }, (_, n) => rate(`c${n}`, 0.1))];
    const { groups } = formGroups(rates, { perSecond: 0.1, loss: 0.1 });
    expect(groups).toHaveLength(1);
    expect(namesOf(groups)).not.toContain('huge');
  });

  test('leaves everything out without a budget', () => {
    const { groups, leftOut } = formGroups(site(200), { perSecond: 0, loss: 0.1 });
    expect(groups).toEqual([]);
    expect(leftOut).toBe(200);
  });
});
