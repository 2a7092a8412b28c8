import { expect, test } from 'vitest';
import { statusRows } from '../../../../services/admin/status-command.ts';
import type { KafkaState, Measured, PostgresState } from '../../../../services/admin/status-command.ts';

const POSTGRES: PostgresState = {
  due: { due: 0, oldestMs: null, underWay: 0 },
  counts: {
    pendingDeliveries: 0,
    oldestPendingMs: null,
    longestOverdueMs: null,
    monitors: { active: 5, paused: 1 },
    failingMonitors: 0,
  },
  work: {
    backfills: { waiting: 0, working: 0, cancelling: 0, oldestSeconds: 0 },
    digests: { due: 0, oldestSeconds: 0 },
    digestMails: 0,
    events: { pending: 0, oldestSeconds: 0 },
  },
  gaps: [],
};
const KAFKA: KafkaState = {
  brokers: 3,
  lags: [{ group: 'recorder', lag: 7 }],
  connected: new Set(['recorder']),
  deadLetters: {},
};
const HEALTHY: Measured = {
  postgres: { state: POSTGRES },
  kafka: { state: KAFKA },
  clickhouse: { state: { newestItemAgeMs: 1_400 } },
};

const find = (measured: Partial<Measured>, part: string) =>
  statusRows({ ...HEALTHY, ...measured }).find((row) => row.part === part);

test('while all is well every line is ok', () => {
  const rows = statusRows(HEALTHY);
  expect(rows.map(({ part, status }) => [part, status])).toEqual(
    [
      ...['postgres', 'kafka', 'clickhouse', 'items', 'recorder', 'dead letters', 'deliveries', 'webhooks'],
      ...['events', 'digests', 'backfills', 'gaps', 'monitors'],
    ].map((part) => [part, 'ok']),
  );
  expect(find({}, 'items')).toMatchObject({ age_seconds: 1, note: 'the newest archived item' });
  expect(find({}, 'kafka')!.note).toBe('brokers: 3');
  expect(find({}, 'monitors')!.note).toBe('active: 5, paused: 1');
});

test.each<[string, Partial<Measured>, string]>([
  ['items', { clickhouse: { state: { newestItemAgeMs: 61_000 } } }, 'the newest archived item'],
  ['items', { clickhouse: { state: { newestItemAgeMs: null } } }, 'none was archived in the last day'],
  ['recorder', { kafka: { state: { ...KAFKA, connected: new Set() } } }, 'records before it; no process reads them'],
  ['recorder', { kafka: { state: { ...KAFKA, lags: [{ group: 'recorder', lag: 10_001 }] } } }, 'records before it'],
  [
    'deliveries',
    { postgres: { state: { ...POSTGRES, due: { due: 9, oldestMs: 61_000, underWay: 0 } } } },
    'due; under way: 0, waiting for their time, too: 0',
  ],
])('%s that need a look: %#', (part, measured, note) => {
  expect(find(measured, part)).toMatchObject({ status: 'look', note });
});

test('deliveries that are overdue behind a slow endpoint are under way', () => {
  const due = { due: 9, oldestMs: 61_000, underWay: 2 };
  expect(find({ postgres: { state: { ...POSTGRES, due } } }, 'deliveries')).toMatchObject({
    status: 'ok',
    waiting: 9,
    age_seconds: 61,
  });
});
