import { expect, test } from 'vitest';
import { OffsetCommits } from '../../../../shared/kafka/batch-runner.ts';
import type { DueCommit } from '../../../../shared/kafka/batch-runner.ts';

type Request = Parameters<DueCommit['payload']['commitOffsetsIfNecessary']>[0];

/** A consumer group that answers when the test says so. */
function createGroup() {
  const requests: { offsets: Request; answer: PromiseWithResolvers<undefined> }[] = [];
  const payload: DueCommit['payload'] = {
    commitOffsetsIfNecessary: (offsets) => {
      const answer = Promise.withResolvers<undefined>();
      requests.push({ offsets, answer });
      return answer.promise;
    },
  };
  const due = (topic: string, partition: number, next: bigint, isOwned = () => true): DueCommit => ({
    ...{ payload, topic, partition, next, isOwned },
    metadata: undefined,
  });
  return { requests, due };
}

/** The end of a turn of the event loop, and of the one after it. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('partitions that end while a request is under way share the next one, without those that were lost', async () => {
  const { requests, due } = createGroup();
  const commits = new OffsetCommits();
  const first = commits.commit(due('posts', 0, 1n));
  await turn();
  let isOwned = true;
  const later = [commits.commit(due('posts', 1, 2n)), commits.commit(due('posts', 2, 3n, () => isOwned))];
  await turn();
  expect(requests).toHaveLength(1);
  isOwned = false;
  requests[0]!.answer.resolve(undefined);
  expect(await first).toBe(true);
  await turn();
  expect(requests[1]!.offsets).toEqual({ topics: [{ topic: 'posts', partitions: [{ partition: 1, offset: '2' }] }] });
  requests[1]!.answer.resolve(undefined);
  expect(await Promise.all(later)).toEqual([true, false]);
});

test('those that wait fail with the request that is under way: no request follows to fail, too', async () => {
  const { requests, due } = createGroup();
  const commits = new OffsetCommits();
  const first = commits.commit(due('posts', 0, 1n));
  await turn();
  const all = Promise.allSettled([first, commits.commit(due('posts', 1, 1n))]);
  await turn();
  requests[0]!.answer.reject(new Error('no answer'));
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await turn();
  expect(requests).toHaveLength(1);
});
