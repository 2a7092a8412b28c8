import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_ROUTES, expectNothingWrong, NEEDS_CLICKHOUSE, statuses } from '../../support/outages/outage-checks.ts';
import { OutageTrial } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start();
});
afterAll(() => trial.stop());

test('while ClickHouse is away only reads that need it are refused, and matches are delivered', async () => {
  const report = await trial.run({ engine: 'clickhouse', kind: 'away' });
  expectNothingWrong(report);
  expect(report.readyz).toBe(200);
  for (const route of ALL_ROUTES) {
    expect([route, statuses(report, route)]).toEqual([route, [NEEDS_CLICKHOUSE.includes(route) ? '503' : '200']]);
  }
  expect(report.during.archived).toBe(0);
  for (const stage of ['appended', 'recorded', 'webhooks'] as const) expect(report.during[stage]).toBeGreaterThan(0);
});

test('while ClickHouse answers 2 s late, everything goes on', async () => {
  const report = await trial.run({ engine: 'clickhouse', kind: 'slow' });
  expectNothingWrong(report);
  for (const stage of ['appended', 'recorded', 'webhooks', 'archived'] as const) {
    expect(report.during[stage]).toBeGreaterThan(0);
  }
});
