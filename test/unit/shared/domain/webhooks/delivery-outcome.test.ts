import { describe, expect, test } from 'vitest';
import { decideOutcome } from '../../../../../shared/domain/webhooks/delivery-outcome.ts';

const answer = (status: number, retryAfterMs?: number) => ({ error: null, status, retryAfterMs });
const failure = (error: string) => ({ error, status: 0 });
const HOUR = 3_600_000;

describe('what an answer makes of a match', () => {
  test.each([200, 201, 202, 204, 299])('%i delivers it', (status) => {
    expect(decideOutcome(answer(status), 0, 0)).toEqual({ deliveryStatus: 'delivered', error: null, delayMs: null });
  });

  test.each([
    [301, 'redirect'],
    [302, 'redirect'],
    [304, 'redirect'],
    [308, 'redirect'],
    [400, 'http_status'],
    [401, 'http_status'],
    [403, 'http_status'],
    [404, 'http_status'],
    [408, 'http_status'],
    [410, 'http_status'],
    [425, 'http_status'],
    [499, 'http_status'],
  ])('%i fails it at once: %s', (status, error) => {
    expect(decideOutcome(answer(status), 0, 0)).toEqual({ deliveryStatus: 'failed', error, delayMs: null });
  });

  test.each([429, 500, 502, 503, 504, 599])('%i is tried again', (status) => {
    expect(decideOutcome(answer(status), 0, 0)).toEqual({
      deliveryStatus: 'pending',
      error: 'http_status',
      delayMs: 30_000,
    });
  });

  test.each(['timeout', 'dns', 'tls', 'connect'])('%s is tried again', (error) => {
    expect(decideOutcome(failure(error), 0, 0)).toEqual({ deliveryStatus: 'pending', error, delayMs: 30_000 });
  });

  test('a blocked address fails it at once', () => {
    expect(decideOutcome(failure('blocked_address'), 0, 0).deliveryStatus).toBe('failed');
  });
});

describe('the ladder', () => {
  test('waits 30 s, 2 min, 10 min, 30 min and 2 h, and fails with the sixth attempt', () => {
    // A clock that is moved by what the ladder asks for.
    let now = 0;
    const attemptsAt: number[] = [];
    for (let step = 0; ; step++) {
      attemptsAt.push(now);
      const outcome = decideOutcome(failure('timeout'), step, 0);
      if (outcome.delayMs === null) {
        expect(outcome).toEqual({ deliveryStatus: 'failed', error: 'timeout', delayMs: null });
        break;
      }
      now += outcome.delayMs;
    }
    expect(attemptsAt.map((ms) => ms / 60_000)).toEqual([0, 0.5, 2.5, 12.5, 42.5, 162.5]);
  });

  test('adds up to 10 % and never subtracts', () => {
    expect(decideOutcome(answer(500), 0, 0).delayMs).toBe(30_000);
    expect(decideOutcome(answer(500), 0, 0.5).delayMs).toBe(31_500);
    const almostOne = decideOutcome(answer(500), 4, 0.999999).delayMs!;
    expect(almostOne).toBeGreaterThan(2.19 * HOUR);
    expect(almostOne).toBeLessThanOrEqual(2.2 * HOUR);
  });

  test.each([
    ['shorter than the step: the step holds', 5_000, 30_000],
    ['longer than the step: it is honoured', 90_000, 90_000],
    ['two hours: honoured', 2 * HOUR, 2 * HOUR],
    ['a day: two hours', 24 * HOUR, 2 * HOUR],
  ])('Retry-After %s', (_, retryAfterMs, delayMs) => {
    expect(decideOutcome(answer(429, retryAfterMs), 0, 0).delayMs).toBe(delayMs);
    expect(decideOutcome(answer(503, retryAfterMs), 0, 0).delayMs).toBe(delayMs);
  });

  test('a wait without end is two hours', () => {
    expect(decideOutcome(answer(429, Infinity), 0, 0).delayMs).toBe(2 * HOUR);
  });

  test('Retry-After does not buy a seventh attempt', () => {
    expect(decideOutcome(answer(503, 1_000), 5, 0).deliveryStatus).toBe('failed');
  });
});
