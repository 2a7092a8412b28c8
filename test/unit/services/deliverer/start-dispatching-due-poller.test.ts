import { expect, test } from 'vitest';
import { startDuePoller } from '../../../../services/deliverer/start-dispatching.ts';

test('the poller rests ten times as long as its walk took, at most 5 s, so that an open snapshot does not make it a burden', async () => {
  const walks = [
    { pages: 1, tookMs: 2 },
    { pages: 3, tookMs: 150 },
    { pages: 1, tookMs: 2_000 },
    { pages: 0, tookMs: 15_000 },
    { pages: 1, tookMs: 2 },
  ];
  let now = 0;
  let page = 0;
  const rests: number[] = [];
  const rested = Promise.withResolvers<undefined>();
  const poller = startDuePoller({
    async read() {
      const { pages, tookMs } = walks[rests.length]!;
      now += tookMs / Math.max(1, pages);
      if (pages === 0) throw new Error('the server is unavailable');
      page = (page + 1) % pages;
      return { due: [], next: page === 0 ? null : `mon_${page}` };
    },
    onDue: () => undefined,
    onError: () => undefined,
    monotonic: () => now,
    async pause(ms) {
      rests.push(ms);
      now += ms;
      if (rests.length < walks.length) return;
      rested.resolve(undefined);
      await new Promise<void>((resolve) => setImmediate(resolve));
    },
  });
  await rested.promise;
  const stopped = poller.stop();
  expect(rests).toEqual([1_000, 1_500, 5_000, 1_000, 1_000]);
  await stopped;
});
