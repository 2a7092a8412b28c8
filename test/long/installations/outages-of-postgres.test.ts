import { afterAll, beforeAll, expect, test } from 'vitest';
import { OutageTrial, expectNothingWrong } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start('postgres');
});
afterAll(() => trial.stop());

test('unavailable: all requests are refused with 503, and the crawler fills Kafka', async () => {
  const report = await trial.run('postgres', 'unavailable', () => ['503']);
  expectNothingWrong(report);
  expect(report.readyz).toBe(503);
  expect(report.during.appended).toBeGreaterThan(0);
});

test.each(['slow', 'full'] as const)(
  '%s: requests get an answer or 503, and nothing is lost or charged in vain',
  async (kind) => {
    if (kind === 'full' && !trial.canFill('postgres')) return;
    const report = await trial.run('postgres', kind, () => ['200', '503']);
    expectNothingWrong(report);
  },
);
