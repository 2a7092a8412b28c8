import { expect, test } from 'vitest';
import { samplingHash } from '../../../../../services/crawler/audit/sampling-hash.ts';

test('spreads sequential ids evenly, and independently for each seed', () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => (1_700_000_000 + index).toString(36));
  for (const seed of [1, 2, 20_260_101]) {
    const hashes = ids.map((id) => samplingHash(seed, id));
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = hashes.filter((hash) => Math.floor(hash * 10) === tenth).length / ids.length;
      expect(Math.abs(share - 0.1)).toBeLessThan(0.01);
    }
  }
  const both = ids.filter((id) => samplingHash(1, id) < 0.5 && samplingHash(2, id) < 0.5);
  expect(Math.abs(both.length / ids.length - 0.25)).toBeLessThan(0.015);
});
