import { expect, test } from 'vitest';
import { createSteadyClock } from '../../../../shared/runtime/clock.ts';

test('a clock that is set back goes on from where it was', () => {
  let system = 1_000;
  const clock = createSteadyClock(() => system);
  const seen = [1_000, 1_500, 700, 900, 600, 650, 5_000].map((time) => {
    system = time;
    return clock();
  });
  expect(seen).toEqual([1_000, 1_500, 1_500, 1_700, 1_700, 1_750, 6_100]);
});
