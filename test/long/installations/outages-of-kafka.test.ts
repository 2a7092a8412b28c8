import { afterAll, beforeAll, expect, test } from 'vitest';
import { OutageTrial, expectAnswers, expectNothingWrong } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start('kafka');
});
afterAll(() => trial.stop());

test('unavailable: all reads are answered', async () => {
  const report = await trial.run('kafka', 'unavailable');
  expectNothingWrong(report);
  expectAnswers(report, () => ['200']);
  expect(report.during.appended).toBe(0);
});

test('2 s late: items are still published', async () => {
  const report = await trial.run('kafka', 'slow');
  expectNothingWrong(report);
  expectAnswers(report, () => ['200']);
  expect(report.during.appended).toBeGreaterThan(0);
});
