import { afterAll, beforeAll, test } from 'vitest';
import { OutageTrial, expectNothingWrong } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start('postgres');
});
afterAll(() => trial.stop());

test('while PostgreSQL stands still, requests get an answer or 503, and nothing is lost or charged in vain', async () => {
  const report = await trial.run('postgres', 'hung', () => ['200', '503']);
  expectNothingWrong(report);
});
