import { expect, test } from 'vitest';
import { CURVES } from '../../../bench/growth/curves.ts';
import { drawCurve, shortNumber } from '../../../bench/growth/draw-curve.ts';

test.each([
  [0.25, '0.25'],
  [999, '999'],
  [1_000, '1k'],
  [15_240, '15.2k'],
  [50_000_000, '50M'],
])('writes %d as %s', (value, text) => {
  expect(shortNumber(value)).toBe(text);
});

test.each(CURVES)('draws the lines of $name with their names and values', (curve) => {
  const points = curve.x.values.map((x, index) => ({
    x,
    ...Object.fromEntries(curve.lines.map(({ field }, line) => [field, 100 * (line + 1) + index])),
  }));
  const svg = drawCurve(curve, points);
  expect(svg).toMatch(/^<svg /);
  for (const { name } of curve.lines) expect(svg).toContain(name);
  for (const [line] of curve.lines.entries()) expect(svg).toContain(`>${100 * (line + 1)}<`);
});
