import { expect, test } from 'vitest';
import { callsPerSecond, planReadings } from '../../../../../services/crawler/groups/reading-plan.ts';

test.each([
  [0.5, 1, 50_000, 1],
  [5, 1, 17_000, 1],
  [100, 1, 2_000, 3],
  [0.5, 3, 50_000, 1],
  [5, 3, 35_189, 2],
  [40, 3, 6_707, 3],
])('%d comments a second and at most %i pages: every %i ms, with %i pages', (perSecond, most, intervalMs, pages) => {
  const plan = planReadings(perSecond, most, 50_000);
  expect(Math.round(plan.intervalMs)).toBe(intervalMs);
  expect(plan.pages).toBe(pages);
});

test('readings of several pages take fewer calls', () => {
  const [one, three] = [1, 3].map((most) => callsPerSecond(planReadings(20, most, 50_000)));
  expect(three! / one!).toBeLessThan(0.92);
});
