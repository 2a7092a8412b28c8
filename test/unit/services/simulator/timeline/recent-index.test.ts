import { expect, test } from 'vitest';
import { RecentIndex } from '../../../../../services/simulator/timeline/recent-index.ts';
import type { IndexDeps } from '../../../../../services/simulator/timeline/recent-index.ts';

/** Slots whose community is the slot modulo 3; every tenth is `late` ms late. Slot k is created at 100·k. */
function indexOf(lateDeep: boolean, late = 2000): RecentIndex {
  const visibleAt = (k: number): number => 100 * k + (k % 10 === 0 ? late : 0);
  const deps = {
    timeline: { item: () => ({ kind: 'comment', number: 0 }), visibleAt },
    threads: { add: () => undefined, becameVisible: () => undefined },
    attributes: (k: number) => ({ community: `c${k % 3}`, author: 'someone' }),
    shownOf: () => 'all',
    lateDeep,
  } as unknown as IndexDeps;
  const index = new RecentIndex(deps);
  for (let k = 0; k <= 100; k++) index.add([k], 100 * k);
  return index;
}

test('a late item enters at the top of its listings', () => {
  const index = indexOf(false);
  expect(index.newest('comment', 'all', 4)).toEqual([80, 99, 98, 97]);
  expect(index.newestOf('comment', ['c0', 'c1', 'c2'], 4)).toEqual([80, 99, 98, 97]);
  index.add([], 100_000);
  expect(index.newest('comment', 'all', 3)).toEqual([100, 90, 80]);
});

test('with lateDeep a late item enters at the place of its creation time', () => {
  const index = indexOf(true);
  expect(index.newest('comment', 'all', 4)).toEqual([99, 98, 97, 96]);
  expect(index.newest('comment', 'all').slice(18, 21)).toEqual([80, 79, 78]);
  index.add([], 100_000);
  expect(index.newest('comment', 'all', 12)).toEqual([100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89]);
  expect(index.newest('comment', 'r/c0', 4)).toEqual([99, 96, 93, 90]);
});

test('several communities are merged, each item once, also when a name is given twice', () => {
  const index = indexOf(false, 0);
  expect(index.newestOf('comment', ['c1', 'c0', 'c1', 'none'], 5)).toEqual([100, 99, 97, 96, 94]);
  expect(index.newestOf('comment', ['c0', 'c1', 'c2'])).toEqual(index.newest('comment', 'all'));
  expect(index.newestOf('comment', ['none'])).toEqual([]);
});
