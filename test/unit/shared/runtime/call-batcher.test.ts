import { expect, test } from 'vitest';
import { CallBatcher } from '../../../../shared/runtime/call-batcher.ts';

type Limits = { maxGroup?: number; maxRunning?: number; sizeOf?: (input: number) => number };

/** Groups that wait until they are told to end. */
function heldGroups(options: Limits = {}) {
  const groups: { inputs: readonly number[]; end: PromiseWithResolvers<readonly string[]> }[] = [];
  const calls = new CallBatcher<number, string>({
    ...options,
    run: (inputs) => {
      const end = Promise.withResolvers<readonly string[]>();
      groups.push({ inputs, end });
      return end.promise;
    },
  });
  const end = (at: number) => groups[at]!.end.resolve(groups[at]!.inputs.map((input) => `answer ${input}`));
  return { groups, calls, end };
}

/** Until what was called before has started, also behind a group that has just ended. */
async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

test('calls of one turn go together, those that come meanwhile go next, each with its own answer', async () => {
  const { groups, calls, end } = heldGroups({ maxRunning: 1 });
  const answers = [1, 2].map((input) => calls.call(input));
  // As a call that follows an answer of another batcher.
  void Promise.resolve().then(() => answers.push(calls.call(3)));
  await nextTurn();
  expect(groups.map(({ inputs }) => inputs)).toEqual([[1, 2, 3]]);
  answers.push(calls.call(4));
  await nextTurn();
  answers.push(calls.call(5));
  await nextTurn();
  expect(groups).toHaveLength(1);
  end(0);
  expect(await answers[2]).toBe('answer 3');
  await nextTurn();
  expect(groups.map(({ inputs }) => inputs)).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
  end(1);
  expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5].map((input) => `answer ${input}`));
  const lone = calls.call(6);
  await nextTurn();
  end(2);
  expect(await lone).toBe('answer 6');
});

test('groups and how many run at a time are bounded', async () => {
  const { groups, calls, end } = heldGroups({ maxGroup: 2, maxRunning: 2 });
  const answers = [1, 2, 3, 4, 5, 6, 7].map((input) => calls.call(input));
  const started = () => groups.map(({ inputs }) => inputs);
  await nextTurn();
  expect(started()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  end(1);
  await answers[3];
  await nextTurn();
  expect(started().slice(2)).toEqual([[5, 6]]);
  end(0);
  await answers[0];
  await nextTurn();
  expect(started().slice(2)).toEqual([[5, 6], [7]]);
});

test('a failure is that of its group alone, and a wrong number of answers is one', async () => {
  let run = 0;
  const calls = new CallBatcher<number, number>({
    maxRunning: 1,
    maxGroup: 2,
    run: (inputs) => {
      run++;
      if (run === 1) return Promise.reject(new Error('lost'));
      return Promise.resolve(run === 2 ? [] : inputs);
    },
  });
  const settled = await Promise.allSettled([1, 2, 3, 4].map((input) => calls.call(input)));
  expect(settled.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : outcome.value))).toEqual([
    'Error: lost',
    'Error: lost',
    'Error: 0 answers to 2 calls',
    'Error: 0 answers to 2 calls',
  ]);
  expect(await calls.call(5)).toBe(5);
});

test('a failure that the next group would meet too is that of all calls that wait', async () => {
  let runs = 0;
  const calls = new CallBatcher<number, number>({
    maxRunning: 1,
    maxGroup: 1,
    isShared: (error) => error instanceof RangeError,
    run: (inputs) => (++runs === 1 ? Promise.reject(new RangeError('unavailable')) : Promise.resolve(inputs)),
  });
  const settled = await Promise.allSettled([calls.call(1), calls.call(2), calls.call(3)]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect([runs, await calls.call(4)]).toEqual([1, 4]);
});

test('a group is as large as it may be by the sizes of its calls, in their order; a larger call is alone', async () => {
  const { groups, calls } = heldGroups({ maxGroup: 5, maxRunning: 4, sizeOf: (input) => input });
  for (const input of [2, 3, 1, 8, 2, 3]) void calls.call(input);
  await nextTurn();
  expect(groups.map(({ inputs }) => inputs)).toEqual([[2, 3], [1], [8], [2, 3]]);
});
