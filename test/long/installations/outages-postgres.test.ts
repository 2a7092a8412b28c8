import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_ROUTES, expectNothingWrong, statuses } from '../../support/outages/outage-checks.ts';
import { OutageTrial } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start();
});
afterAll(() => trial.stop());

test('while Postgres is away all requests are refused with 503, and the crawler fills Kafka', async () => {
  const report = await trial.run({ engine: 'postgres', kind: 'away' });
  expectNothingWrong(report);
  expect(report.readyz).toBe(503);
  expect(ALL_ROUTES.flatMap((route) => statuses(report, route))).toEqual(ALL_ROUTES.map(() => '503'));
  expect(report.during.appended).toBeGreaterThan(0);
});

test('while Postgres answers 2 s late, requests get an answer or 503, and the crawler fills Kafka', async () => {
  const report = await trial.run({ engine: 'postgres', kind: 'slow' });
  expectNothingWrong(report);
  for (const route of ALL_ROUTES)
    for (const status of statuses(report, route)) expect(['200', '503']).toContain(status);
  expect(report.during.appended).toBeGreaterThan(0);
});
