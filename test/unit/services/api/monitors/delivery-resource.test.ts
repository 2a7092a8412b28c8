import { expect, test } from 'vitest';
import { deliveryResource } from '../../../../../services/api/monitors/delivery-resource.ts';
import type { StoredDeliveryHealth } from '../../../../../shared/stores/deliveries/delivery-health.ts';

const NOW = Date.parse('2026-03-04T10:00:00.000Z');
const minutesAgo = (minutes: number) => new Date(NOW - minutes * 60_000);
const QUIET: StoredDeliveryHealth = {
  readAt: new Date(NOW),
  pending: 0,
  oldestPendingAt: null,
  lastAttemptAt: null,
  lastStatus: null,
  lastError: null,
  lastDeliveredAt: null,
  attemptFailures24h: 0,
};
const FAILED = { lastAttemptAt: minutesAgo(1), lastStatus: 0, lastError: 'connect' };
const DELIVERED = { lastAttemptAt: minutesAgo(1), lastStatus: 204, lastError: null, lastDeliveredAt: minutesAgo(1) };
const HOOK = { webhookUrl: 'https://example.com/', webhookFailing: false };

test.each([
  ['no webhook', { ...QUIET, ...FAILED, pending: 3, oldestPendingAt: minutesAgo(60) }, { webhookUrl: null }, 'none'],
  ['no webhook, marked as failing', QUIET, { webhookUrl: null, webhookFailing: true }, 'none'],
  ['no attempt yet', QUIET, {}, 'ok'],
  ['no attempt yet, a match waits for long', { ...QUIET, pending: 1, oldestPendingAt: minutesAgo(60) }, {}, 'ok'],
  ['a success', { ...QUIET, ...DELIVERED }, {}, 'ok'],
  ['a success, others wait', { ...QUIET, ...DELIVERED, pending: 9, oldestPendingAt: minutesAgo(60) }, {}, 'ok'],
  ['a failure, nothing waits', { ...QUIET, ...FAILED }, {}, 'retrying'],
  ['a failure, 10 min', { ...QUIET, ...FAILED, pending: 1, oldestPendingAt: minutesAgo(10) }, {}, 'retrying'],
  ['a failure, over 10 min', { ...QUIET, ...FAILED, pending: 1, oldestPendingAt: minutesAgo(10.001) }, {}, 'failing'],
  ['the mark', { ...QUIET, ...DELIVERED }, { webhookFailing: true }, 'failing'],
])('%s', (_, health, webhook, state) => {
  expect(deliveryResource(health, { ...HOOK, ...webhook }).state).toBe(state);
});

test('shows what was read, times as text', () => {
  const health = { ...QUIET, ...FAILED, pending: 2, oldestPendingAt: minutesAgo(3), attemptFailures24h: 7 };
  expect(deliveryResource(health, HOOK)).toEqual({
    state: 'retrying',
    pending: 2,
    oldest_pending_at: '2026-03-04T09:57:00.000Z',
    last_status: 0,
    last_error: 'connect',
    last_attempt_at: '2026-03-04T09:59:00.000Z',
    last_delivered_at: null,
    attempt_failures_24h: 7,
  });
});
