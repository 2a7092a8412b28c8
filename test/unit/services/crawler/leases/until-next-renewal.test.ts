import { expect, test } from 'vitest';
import { untilNextRenewal } from '../../../../../services/crawler/leases/until-next-renewal.ts';

test('renewals begin at an interval, however long their answers take', () => {
  expect(untilNextRenewal(1_000, 50_000, 50_000)).toBe(1_000);
  expect(untilNextRenewal(1_000, 50_000, 50_400)).toBe(600);
  expect(untilNextRenewal(1_000, 50_000, 53_000)).toBe(0);
  // The clock was set back.
  expect(untilNextRenewal(1_000, 50_000, 40_000)).toBe(1_000);
});

test('renewals that began at different times come at the same moment from then on', () => {
  expect(untilNextRenewal(1_000, 50_300, 50_310)).toBe(690);
  expect(untilNextRenewal(1_000, 50_900, 50_910)).toBe(90);
  // The timer of the last renewal ended a moment early.
  expect(untilNextRenewal(1_000, 50_999, 51_001)).toBe(999);
});
