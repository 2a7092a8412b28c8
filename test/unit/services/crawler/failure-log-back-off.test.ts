import { expect, test } from 'vitest';
import { backOffMs } from '../../../../services/crawler/failure-log.ts';
import { UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';

const broken = new UpstreamError('broken', 'x');

test('grows with the length of the outage, up to half a minute', () => {
  expect(backOffMs(broken, 0, 0)).toBe(250);
  expect(backOffMs(broken, 8_000, 0)).toBe(2_000);
  expect(backOffMs(broken, 3_600_000, 0)).toBe(30_000);
});

test('adds up to a quarter of jitter and never subtracts any', () => {
  expect(backOffMs(broken, 4_000, 0.999)).toBeGreaterThan(1_200);
  expect(backOffMs(broken, 4_000, 0.999)).toBeLessThan(1_250);
});

test('is never shorter than Retry-After, and at least 5 s when the forum refuses us', () => {
  expect(backOffMs(new UpstreamError('busy', 'x', { retryAfterMs: 45_000 }), 0, 0)).toBe(45_000);
  expect(backOffMs(new UpstreamError('refused', 'x'), 0, 0)).toBe(5_000);
});
