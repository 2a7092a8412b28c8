import { expect, test } from 'vitest';
import { DEFAULT_SHARES, LANES, mapLanes } from '../../../../../shared/upstream/budget/lanes.ts';

test('mapLanes computes a rate for every lane, in order of precedence', () => {
  expect(Object.entries(mapLanes((lane) => LANES.indexOf(lane)))).toEqual(LANES.map((lane, index) => [lane, index]));
});

test('the default shares belong to lanes and are together less than the budget', () => {
  for (const lane of Object.keys(DEFAULT_SHARES)) expect(LANES).toContain(lane);
  const { live, reading, audit } = DEFAULT_SHARES;
  expect(live + reading + audit).toBeLessThan(1);
});
