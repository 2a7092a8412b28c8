import { expect, test } from 'vitest';
import { SeenItems } from '../../../../services/crawler/seen-items.ts';

test('is bounded and always contains the latest half of its capacity', () => {
  const seen = new SeenItems(100);
  for (let n = 0; n < 1000; n++) seen.add(`t1_${n.toString(36)}`);
  expect(seen.size).toBeLessThanOrEqual(100);
  for (let n = 950; n < 1000; n++) expect(seen.has(`t1_${n.toString(36)}`)).toBe(true);
  expect(seen.has('t1_0')).toBe(false);
});
