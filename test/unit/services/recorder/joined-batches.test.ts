import { expect, test } from 'vitest';
import { JoinedBatches } from '../../../../services/recorder/joined-batches.ts';

function joining(maxSize: number, run?: () => Promise<void>) {
  const runs: string[][] = [];
  const batches = new JoinedBatches<string>({
    run: (joined) => {
      runs.push([...joined]);
      return run?.() ?? Promise.resolve();
    },
    sizeOf: ({ length }) => length,
    maxSize,
  });
  return { runs, add: (batch: string) => batches.add(batch) };
}

test('batches of one turn are joined, also those that come some promises later', async () => {
  const { runs, add } = joining(100);
  const late = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    await add('late');
  };
  await Promise.all([add('a'), late(), add('b')]);
  expect(runs).toEqual([['a', 'b', 'late']]);
});

test('a batch does not wait for the run of earlier ones', async () => {
  const never = Promise.withResolvers<undefined>();
  const { runs, add } = joining(100, () => never.promise);
  const first = add('a');
  await new Promise(setImmediate);
  const second = add('b');
  await new Promise(setImmediate);
  expect(runs).toEqual([['a'], ['b']]);
  never.resolve(undefined);
  await Promise.all([first, second]);
});

test('no more are joined than may be, in their order; a larger one is alone', async () => {
  const { runs, add } = joining(5);
  await Promise.all(['aa', 'bbb', 'c', 'dddddddd', 'ee', 'fff'].map(add));
  expect(runs).toEqual([['aa', 'bbb'], ['c'], ['dddddddd'], ['ee', 'fff']]);
});

test('an error is that of all that were joined', async () => {
  const { add } = joining(5, () => Promise.reject(new Error('away')));
  const results = await Promise.allSettled([add('a'), add('b')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
