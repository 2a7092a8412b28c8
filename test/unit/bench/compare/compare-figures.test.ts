import { expect, test } from 'vitest';
import { compareFigures } from '../../../bench/compare/compare-figures.ts';
import type { Round } from '../../../bench/compare/compare-figures.ts';

/** A round in which both sides printed one line with one figure. */
const round = (base: number, now: number): Round => ({
  base: [{ bench: 'recorder', rate: 100, items: { perSecond: base } }],
  now: [{ bench: 'recorder', rate: 100, items: { perSecond: now } }],
});

test('gives the ratio and the interval of Student’s t distribution, however fast the machine is in a round', () => {
  // ln 1.1, ln 1.2 and ln 1.3: mean 0.1797, standard error 0.0483; 4.303 of it to each side.
  const [comparison, ...others] = compareFigures([round(100, 110), round(1_000, 1_200), round(50, 65)]);
  expect(others).toEqual([]);
  expect(comparison).toMatchObject({ line: 1, of: 'recorder', figure: 'items.perSecond', differs: false });
  expect(comparison!.ratio).toBeCloseTo(1.197, 3);
  expect(comparison!.low).toBeCloseTo(0.973, 2);
  expect(comparison!.high).toBeCloseTo(1.473, 2);
});

test('calls a difference what is larger than the differences between rounds', () => {
  expect(compareFigures([round(100, 150), round(90, 134), round(110, 167)])[0]).toMatchObject({ differs: true });
  expect(compareFigures([round(100, 50), round(90, 46), round(110, 54)])[0]).toMatchObject({ differs: true });
  expect(compareFigures([round(100, 150), round(90, 50), round(110, 120)])[0]).toMatchObject({ differs: false });
});

test('leaves out parameters and what is not above 0', () => {
  const line = (ms: number, lost: number) => [{ bench: 'soak', minutes: 5, ms, lost, note: 'calm' }];
  const rounds = [1, 2].map((ms) => ({ base: line(ms, 0), now: line(2 * ms, 1) }));
  expect(compareFigures(rounds)).toMatchObject([{ of: 'soak calm', figure: 'ms', ratio: 2, low: 2, high: 2 }]);
});

test('refuses a single round, and runs that printed different lines', () => {
  expect(() => compareFigures([round(1, 2)])).toThrow('At least two rounds');
  const other: Round = { base: round(1, 1).base, now: [{ bench: 'other', perSecond: 1 }] };
  expect(() => compareFigures([round(1, 1), other])).toThrow('different lines');
});
