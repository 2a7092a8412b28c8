import { expect, test } from 'vitest';
import { combineCompleteness } from '../../../../../shared/crawl/rules/coverage.ts';

test('hours count by their comments', () => {
  const combined = combineCompleteness([
    { share: 1, low: 0.97, high: 1, comments: 300 },
    { share: 0.8, low: 0.7, high: 0.9, comments: 100 },
  ])!;
  expect(combined.share).toBeCloseTo(0.95);
  // By hand: the root of the squares of 3/4 · 0.03 and 1/4 · 0.1, and of 0 and 1/4 · 0.1.
  expect(combined.low).toBeCloseTo(0.95 - Math.sqrt(0.0225 ** 2 + 0.025 ** 2));
  expect(combined.high).toBeCloseTo(0.95 + 0.025);
});

test('an hour alone keeps its interval; equal hours narrow it by the root of their number', () => {
  const hour = { share: 0.9, low: 0.8, high: 0.95, comments: 50 };
  const alone = combineCompleteness([hour])!;
  expect([alone.share, alone.low, alone.high].map((bound) => bound.toFixed(9))).toEqual(
    [0.9, 0.8, 0.95].map((bound) => bound.toFixed(9)),
  );
  const four = combineCompleteness([hour, hour, hour, hour])!;
  expect([four.low, four.high].map((bound) => bound.toFixed(9))).toEqual(
    [0.85, 0.925].map((bound) => bound.toFixed(9)),
  );
});

test('hours without comments have no completeness', () => {
  expect(combineCompleteness([])).toBeUndefined();
  expect(combineCompleteness([{ share: 1, low: 0, high: 1, comments: 0 }])).toBeUndefined();
});
