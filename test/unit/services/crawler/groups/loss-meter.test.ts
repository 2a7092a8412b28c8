import { expect, test } from 'vitest';
import { LossMeter } from '../../../../../services/crawler/groups/loss-meter.ts';

const HOUR = 3_600_000;

test('assumes a loss of a tenth until much was measured', () => {
  const meter = new LossMeter();
  expect(meter.loss).toBeCloseTo(0.1);
  meter.note(10, 0, 0);
  expect(meter.loss).toBeGreaterThan(0.09);
  meter.note(20_000, 6_000, 0);
  expect(meter.loss).toBeCloseTo(0.3, 1);
});

test('forgets what was measured hours ago', () => {
  const meter = new LossMeter();
  meter.note(20_000, 10_000, 0);
  meter.note(5_000, 250, 6 * HOUR);
  expect(meter.loss).toBeCloseTo(0.055, 2);
});
