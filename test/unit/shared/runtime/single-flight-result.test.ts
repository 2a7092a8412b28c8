import { expect, test } from 'vitest';
import { sharedResult } from '../../../../shared/runtime/single-flight.ts';

test('askers share the run under way, and its result while it is fresh', async () => {
  let runs = 0;
  let now = 5_000;
  const admissionControl = Promise.withResolvers<undefined>();
  const ask = sharedResult(
    async () => {
      runs++;
      await admissionControl.promise;
      return runs;
    },
    1_000,
    () => now,
  );
  const together = Array.from({ length: 1_000 }, () => ask());
  admissionControl.resolve(undefined);
  expect(new Set(await Promise.all(together))).toEqual(new Set([1]));
  now += 999;
  expect(await ask()).toBe(1);
  now += 1;
  expect(await ask()).toBe(2);
});

test('a failure goes to those who wait, and the next asker runs it anew', async () => {
  let runs = 0;
  const ask = sharedResult(async () => {
    runs++;
    await Promise.resolve();
    if (runs === 1) throw new Error('no');
    return runs;
  }, 1_000);
  const failed = await Promise.allSettled([ask(), ask()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([await ask(), runs]).toEqual([2, 2]);
});
