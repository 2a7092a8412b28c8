import { afterAll, beforeAll, expect, test } from 'vitest';
import { OutageTrial, expectAnswers, expectNothingWrong } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start('kafka');
});
afterAll(() => trial.stop());

test('away: all reads are answered', async () => {
  const report = await trial.run('kafka', 'away');
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

test('a full disk: all reads are answered', async (context) => {
  if (!trial.canFill('kafka')) context.skip('mounting a tmpfs is not permitted here');
  const report = await trial.run('kafka', 'full');
  expectNothingWrong(report);
  expectAnswers(report, () => ['200']);
});
