import { expect, test } from 'vitest';
import { PlannedTime } from '../../../../shared/runtime/clock.ts';

test('waits as long as it was told, and only a set shortens the wait', () => {
  const planned = new PlannedTime();
  planned.set(1_000, 500);
  expect(planned.waitMs(1_200)).toBe(300);
  planned.extend(1_200, 100);
  expect(planned.waitMs(1_200)).toBe(300);
  planned.extend(1_200, 400);
  expect(planned.waitMs(1_200)).toBe(400);
  planned.set(1_200, 50);
  expect(planned.waitMs(1_250)).toBe(0);
});

test('a clock that is set back does not lengthen a wait, one that is set forward ends it', () => {
  const planned = new PlannedTime();
  planned.set(1_000_000, 30_000);
  expect(planned.waitMs(1_010_000)).toBe(20_000);
  expect(planned.waitMs(410_000)).toBe(20_000);
  expect(planned.waitMs(420_000)).toBe(10_000);
  expect(planned.waitMs(4_000_000)).toBeLessThan(0);
});
