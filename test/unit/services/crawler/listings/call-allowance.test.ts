import { expect, test } from 'vitest';
import { CallAllowance } from '../../../../../services/crawler/listings/call-allowance.ts';

test('earns calls with time and keeps unused ones for some seconds', () => {
  const allowance = new CallAllowance(3);
  allowance.refill(0, 2);
  expect(allowance.waitMs).toBe(0);
  allowance.take();
  expect(allowance.waitMs).toBe(500);
  allowance.refill(250, 2);
  expect(allowance.waitMs).toBe(250);
  allowance.refill(60_000, 2);
  for (let n = 0; n < 6; n++) {
    expect(allowance.waitMs).toBe(0);
    allowance.take();
  }
  expect(allowance.waitMs).toBe(500);
});

test('allows everything while no limit is known', () => {
  const allowance = new CallAllowance(3);
  allowance.refill(0, Infinity);
  for (let n = 0; n < 100; n++) allowance.take();
  expect(allowance.waitMs).toBe(0);
});

test('keeps at least one call, however few are allowed', () => {
  const allowance = new CallAllowance(3);
  allowance.refill(0, 0.01);
  allowance.take();
  allowance.refill(100_000, 0.01);
  expect(allowance.waitMs).toBe(0);
});
