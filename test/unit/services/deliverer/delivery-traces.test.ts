import { expect, test } from 'vitest';
import { DeliveryTraces } from '../../../../services/deliverer/delivery-traces.ts';

test('a trace is taken once, by the first attempt', () => {
  const traces = new DeliveryTraces();
  traces.note('mon_a', 1, 'first');
  traces.note('mon_a', 2, undefined);
  expect(traces.take('mon_a', 1)).toBe('first');
  expect(traces.take('mon_a', 1)).toBeUndefined();
  expect(traces.take('mon_a', 2)).toBeUndefined();
});

test('the oldest of 10,000 traces is forgotten', () => {
  const traces = new DeliveryTraces();
  for (let seq = 1; seq <= 10_001; seq++) traces.note('mon_a', seq, String(seq));
  expect(traces.take('mon_a', 1)).toBeUndefined();
  expect(traces.take('mon_a', 2)).toBe('2');
  expect(traces.take('mon_a', 10_001)).toBe('10001');
});
