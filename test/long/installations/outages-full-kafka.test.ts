import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_ROUTES, expectNothingWrong, statuses } from '../../support/outages/outage-checks.ts';
import { OutageTrial } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start(['kafka']);
});
afterAll(() => trial.stop());

test("while Kafka's disk is full all reads are answered", async (context) => {
  if (!trial.canFill('kafka')) context.skip('mounting a tmpfs is not permitted here');
  const report = await trial.run({ engine: 'kafka', kind: 'full' });
  expectNothingWrong(report);
  expect(ALL_ROUTES.flatMap((route) => statuses(report, route))).toEqual(ALL_ROUTES.map(() => '200'));
});
