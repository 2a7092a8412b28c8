import { expect, test } from 'vitest';
import { ClientHealth } from '../../../../shared/forum-client/client-budgets.ts';

const NOW = 1_000_000;

test('doubles the back-off from 30 s to 10 min while a client fails, and begins again after a success', () => {
  const health = new ClientHealth();
  let now = NOW;
  const waits = [];
  for (let failure = 0; failure < 7; failure++) {
    expect(health.failed(now)).toBe(failure === 0);
    waits.push(health.waitMs(now) / 1000);
    now += health.waitMs(now);
  }
  expect(waits).toEqual([30, 60, 120, 240, 480, 600, 600]);
  expect([health.answered(), health.answered()]).toEqual([true, false]);
  expect([health.failed(now), health.waitMs(now)]).toEqual([true, 30_000]);
});

test('pauses after a 429 as long as the forum asks, and longer when it answers nothing else for minutes', () => {
  const health = new ClientHealth();
  expect(health.pauseMs(0, NOW)).toBe(1_000);
  expect(health.pauseMs(7_000, NOW)).toBe(7_000);
  expect(health.pauseMs(0, NOW + 40_000)).toBe(10_000);
  expect(health.pauseMs(0, NOW + 3_600_000)).toBe(30_000);
  health.answered();
  expect(health.pauseMs(0, NOW + 3_600_000)).toBe(1_000);
});
