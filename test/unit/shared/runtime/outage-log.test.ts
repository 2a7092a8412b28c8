import pg from 'pg';
import { expect, test } from 'vitest';
import { PublishFailed } from '../../../../shared/kafka/kafka-unavailable.ts';
import { OutageLog } from '../../../../shared/runtime/outage-log.ts';
import { createMetrics } from '../../../../shared/runtime/metrics.ts';

test('an outage is told when it begins, once a minute, and when it ends, however often the work fails', async () => {
  const lines: string[] = [];
  const note = (level: string) => (fields: object, message?: string) => {
    const { engine, seconds, failures } = fields as Record<string, unknown>;
    lines.push(`${level} ${String(engine)} ${String(seconds)} ${String(failures)} ${message ?? ''}`);
  };
  const time = { now: 0 };
  const metrics = createMetrics();
  const logger = { warn: note('warn'), info: note('info') } as never;
  const outage = new OutageLog({ work: 'recorder', logger, metrics, clock: () => time.now });
  outage.recovered();
  for (let tries = 0; tries < 1_000; tries++) {
    outage.failed(new PublishFailed('no acknowledgement'));
    time.now += 100;
  }
  const outages = async () =>
    (await metrics.engineUnavailable.get()).values.map(({ value, labels }) => [labels, value]);
  expect(await outages()).toEqual([[{ engine: 'kafka', work: 'recorder' }, 1]]);
  outage.recovered();
  outage.recovered();
  expect(lines).toEqual([
    'warn kafka 0 1 an engine is unavailable; the work will be retried until it is back',
    'warn kafka 60 601 the engine is still unavailable',
    'info undefined 100 1000 the work resumes',
  ]);
  expect(await outages()).toEqual([[{ engine: 'kafka', work: 'recorder' }, 0]]);
  expect((await metrics.engineRetries.get()).values[0]?.value).toBe(1_000);
});

test('a healthy Postgres without a free connection is not called unavailable', () => {
  const told: unknown[] = [];
  const warn = (fields: object, message: string) => told.push([(fields as { engine: string }).engine, message]);
  const time = { now: 0 };
  const outage = new OutageLog({ work: 'start', logger: { warn, info: warn } as never, clock: () => time.now });
  const full = Object.assign(new pg.DatabaseError('sorry, too many clients already', 0, 'error'), { code: '53300' });
  outage.failed(full);
  time.now = 60_000;
  outage.failed(full);
  const message = expect.stringMatching(/^Postgres is up but has no free connection: raise max_connections/) as string;
  expect(told).toEqual([
    ['postgres', message],
    ['postgres', message],
  ]);
});
