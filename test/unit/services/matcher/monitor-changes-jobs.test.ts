import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CoalescedJob } from '../../../../services/matcher/monitor-changes.ts';

/** A job whose runs are ended by the test. */
function gatedJob() {
  const gates: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const job = new CoalescedJob(() => new Promise((resolve, reject) => gates.push({ resolve, reject })));
  return { job, gates };
}

test('all calls during a run share one run after it', async () => {
  const { job, gates } = gatedJob();
  const served: string[] = [];
  const first = job.run().then(() => served.push('first'));
  const [second, third] = [job.run(), job.run()].map((run, index) => run.then(() => served.push(`later ${index}`)));
  expect(gates).toHaveLength(1);
  gates[0]!.resolve();
  await first;
  await setImmediate();
  expect(served).toEqual(['first']);
  expect(gates).toHaveLength(2);
  const idle = job.whenIdle;
  gates[1]!.resolve();
  await Promise.all([second, third, idle]);
  expect(served).toEqual(['first', 'later 0', 'later 1']);
  expect(job.whenIdle).toBeUndefined();
  expect(gates).toHaveLength(2);
});

test('a failed run rejects its callers and does not prevent the next run', async () => {
  const { job, gates } = gatedJob();
  const first = job.run();
  const second = job.run();
  gates[0]!.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await setImmediate();
  gates[1]!.resolve();
  await second;
});
