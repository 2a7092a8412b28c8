import { expect, test } from 'vitest';
import { IdStretches } from '../../../../../services/crawler/post-ids/id-stretches.ts';

test('hands out the ids of the oldest stretch first, none above the highest allowed one', () => {
  const stretches = new IdStretches([{ from: 10n, to: 13n, found: 2 }]);
  stretches.add({ from: 20n, to: 22n });
  expect(stretches.next(100, 1_000n)).toEqual([10n, 11n, 12n]);
  expect(stretches.next(2, 1_000n)).toEqual([10n, 11n]);
  expect(stretches.next(100, 11n)).toEqual([10n, 11n]);
  stretches.shorten(20n, 2n, 2);
  expect(stretches.next(100, 1_000n)).toEqual([10n, 11n, 12n]);
  stretches.shorten(10n, 2n, 1);
  expect(stretches.takeCaughtUp()).toEqual([]);
  stretches.shorten(12n, 1n, 1);
  expect(stretches.takeCaughtUp()).toEqual([{ from: 13n, to: 13n, found: 4 }]);
  expect(stretches.takeCaughtUp()).toEqual([]);
  expect(stretches.next(100, 1_000n)).toEqual([20n, 21n]);
});

test('gives up the oldest ids beyond 2 million, and reports them once', () => {
  const stretches = new IdStretches();
  stretches.add({ from: 0n, to: 5n });
  stretches.add({ from: 10n, to: 2_000_012n });
  expect(stretches.takeGivenUp()).toEqual([
    { from: 0n, to: 5n },
    { from: 10n, to: 12n },
  ]);
  expect(stretches.takeGivenUp()).toEqual([]);
  expect(stretches.list()).toEqual([{ from: 12n, to: 2_000_012n, found: 0 }]);
});

test('gives up the oldest of more than 20 stretches', () => {
  const stretches = new IdStretches();
  for (let n = 0n; n < 21n; n += 1n) stretches.add({ from: 10n * n, to: 10n * n + 5n });
  expect(stretches.size).toBe(20);
  expect(stretches.takeGivenUp()).toEqual([{ from: 0n, to: 5n }]);
});

test('removes the stretch that holds an id and all later ones, and reports them as caught up', () => {
  const [first, second, third] = [0n, 10n, 20n].map((from) => ({ from, to: from + 5n, found: 1 }));
  const stretches = new IdStretches([first!, second!, third!]);
  expect(stretches.cutAt(12n)).toEqual(second);
  expect(stretches.list()).toEqual([first]);
  expect(stretches.takeCaughtUp()).toEqual([second, third]);
  expect(stretches.cutAt(100n)).toBeUndefined();
});
