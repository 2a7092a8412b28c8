import { afterAll, beforeAll, expect, test } from 'vitest';
import { OutageTrial, expectNothingWrong } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start('kafka');
});
afterAll(() => trial.stop());

test('unavailable: all reads are answered', async () => {
  const report = await trial.run('kafka', 'unavailable', () => ['200']);
  expectNothingWrong(report);
  expect(report.during.appended).toBe(0);
});

test('2 s late: items are still published', async () => {
  const report = await trial.run('kafka', 'slow', () => ['200']);
  expectNothingWrong(report);
  expect(report.during.appended).toBeGreaterThan(0);
});
