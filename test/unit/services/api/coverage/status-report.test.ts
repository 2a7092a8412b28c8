import { describe, expect, test } from 'vitest';
import { serviceStatus } from '../../../../../schemas/api/status.ts';
import { statusReport } from '../../../../../services/api/coverage/status-routes.ts';
import type { Measurements } from '../../../../../services/api/coverage/status-routes.ts';

const GOOD: Measurements = {
  readiness: { ready: true, parts: { kafka: true } },
  newestItemAgeMs: 1_440,
  lag: { matcher: 3, recorder: 0 },
  deliveries: { due: 0, oldestMs: null, underWay: 0 },
  clockSkewMs: 3,
};

const reportOf = (measured: Partial<Measurements>) =>
  serviceStatus.parse(statusReport({ ...GOOD, ...measured }, Date.parse('2026-03-04T10:00:00Z')));

describe('one part', () => {
  test.each<[keyof ReturnType<typeof reportOf>['parts'], Partial<Measurements>, string, string]>([
    ['services', { readiness: undefined }, 'unknown', 'could not be checked'],
    [
      'services',
      { readiness: { ready: true, parts: { clickhouse: false, kafka: true } } },
      'degraded',
      'from clickhouse.',
    ],
    ['services', { readiness: { ready: false, parts: { kafka: false, matcher: false } } }, 'down', 'kafka, matcher.'],
    ['services', { readiness: { ready: false, parts: {} } }, 'down', 'starting'],
    ['items', { newestItemAgeMs: undefined }, 'unknown', 'archive'],
    ['items', { newestItemAgeMs: null }, 'down', 'last day'],
    ['items', { newestItemAgeMs: 60_000 }, 'ok', '60 s'],
    ['items', { newestItemAgeMs: 60_001 }, 'degraded', '60 s'],
    ['items', { newestItemAgeMs: 600_001 }, 'down', '600 s'],
    ['items', { newestItemAgeMs: -50 }, 'ok', '0 s'],
    ['processing', { lag: undefined }, 'unknown', 'Kafka'],
    ['processing', { lag: {} }, 'ok', 'up to date'],
    ['processing', { lag: { matcher: 10_000 } }, 'ok', 'up to date'],
    ['processing', { lag: { recorder: 5, matcher: 10_001 } }, 'degraded', '10001 records are waiting for matcher.'],
    ['processing', { lag: { matcher: 500_001, recorder: 0 } }, 'down', 'matcher'],
    ['deliveries', { deliveries: undefined }, 'unknown', 'database'],
    ['deliveries', { deliveries: { due: 2, oldestMs: 60_000, underWay: 0 } }, 'ok', '2, the oldest for 60 s'],
    ['deliveries', { deliveries: { due: 2, oldestMs: 60_001, underWay: 0 } }, 'degraded', '2, the oldest'],
    ['deliveries', { deliveries: { due: 2, oldestMs: 900_001, underWay: 0 } }, 'down', '2, the oldest'],
    ['deliveries', { deliveries: { due: 900, oldestMs: 900_001, underWay: 1 } }, 'ok', '900, the oldest'],
    ['clocks', { clockSkewMs: undefined }, 'unknown', 'database'],
    ['clocks', { clockSkewMs: null }, 'ok', 'recently'],
    ['clocks', { clockSkewMs: -500 }, 'ok', 'agree'],
    ['clocks', { clockSkewMs: -2_300 }, 'degraded', 'by 2.3 s'],
  ])('%s of %j is %s', (part, measured, status, message) => {
    const report = reportOf(measured);
    expect(report.parts[part].status).toBe(status);
    expect(report.parts[part].message).toContain(message);
    expect(report.status).toBe(status === 'unknown' ? 'degraded' : status);
  });
});
