import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_ROUTES, expectNothingWrong, statuses } from '../../support/outages/outage-checks.ts';
import { OutageTrial } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start();
});
afterAll(() => trial.stop());

test('while Kafka is away all reads are answered', async () => {
  const report = await trial.run({ engine: 'kafka', kind: 'away' });
  expectNothingWrong(report);
  expect(ALL_ROUTES.flatMap((route) => statuses(report, route))).toEqual(ALL_ROUTES.map(() => '200'));
  expect(report.during.appended).toBe(0);
});

test('while Kafka answers 2 s late, items are still published', async () => {
  const report = await trial.run({ engine: 'kafka', kind: 'slow' });
  expectNothingWrong(report);
  expect(ALL_ROUTES.flatMap((route) => statuses(report, route))).toEqual(ALL_ROUTES.map(() => '200'));
  expect(report.during.appended).toBeGreaterThan(0);
});
