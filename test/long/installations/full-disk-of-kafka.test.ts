import { afterAll, beforeAll, test } from 'vitest';
import { OutageTrial, expectNothingWrong } from '../../support/outages/outage-trial.ts';

let trial: OutageTrial;
beforeAll(async () => {
  trial = await OutageTrial.start('kafka');
});
afterAll(() => trial.stop());

test('a full disk: all reads are answered', async (context) => {
  if (!trial.canFill('kafka')) context.skip('mounting a tmpfs is not permitted here');
  const report = await trial.run('kafka', 'full', () => ['200']);
  expectNothingWrong(report);
});
