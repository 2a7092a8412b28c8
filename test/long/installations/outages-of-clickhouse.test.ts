import { afterAll, beforeAll, expect, test } from 'vitest';
import { NEEDS_CLICKHOUSE, OutageTrial, expectNothingWrong } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start('clickhouse');
});
afterAll(() => trial.stop());

test('unavailable: only reads that need it are refused, and matches are delivered', async () => {
  const report = await trial.run('clickhouse', 'unavailable', (route) => [
    NEEDS_CLICKHOUSE.includes(route) ? '503' : '200',
  ]);
  expectNothingWrong(report);
  expect(report.readyz).toBe(200);
  expect(report.during.archived).toBe(0);
  for (const stage of ['appended', 'recorded', 'webhooks'] as const) expect(report.during[stage]).toBeGreaterThan(0);
});

test('2 s late: everything goes on', async () => {
  const report = await trial.run('clickhouse', 'slow');
  expectNothingWrong(report);
  for (const stage of ['appended', 'recorded', 'webhooks'] as const) expect(report.during[stage]).toBeGreaterThan(0);
});

test('a full disk: matching and webhooks go on, and the archive catches up', async (context) => {
  if (!trial.canFill('clickhouse')) context.skip('mounting a tmpfs is not permitted here');
  const report = await trial.run('clickhouse', 'full');
  expectNothingWrong(report);
  expect(report.readyz).toBe(200);
  for (const stage of ['appended', 'recorded', 'webhooks'] as const) expect(report.during[stage]).toBeGreaterThan(0);
});
