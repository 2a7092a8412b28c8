import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { cleanUpAfter } from '../../../support/children/clean-up-after.ts';

const fail = (what: string) => Promise.reject(new Error(what));

test('a process that hangs does not keep the rest from being cleaned up', async () => {
  const done: string[] = [];
  const work = async () => {
    await turn();
    done.push('work');
  };
  const slow = async () => {
    await turn();
    await turn();
    done.push('slow');
  };
  const last = async () => {
    done.push('last');
  };
  await expect(cleanUpAfter(work, [() => [fail('hangs'), slow()], () => [last()]])).rejects.toThrow(/^hangs$/);
  expect(done).toEqual(['work', 'slow', 'last']);
});

test('a failed clean-up does not hide why the work failed', async () => {
  await expect(cleanUpAfter(() => fail('the work'), [() => []])).rejects.toThrow(/^the work$/);
  const both = cleanUpAfter(() => fail('the work'), [() => [fail('hangs')], () => [fail('is busy')]]);
  await expect(both).rejects.toMatchObject({
    message: 'Error: the work; Error: hangs; Error: is busy',
    errors: [new Error('the work'), new Error('hangs'), new Error('is busy')],
  });
});

test('nothing is thrown when nothing failed', async () => {
  await cleanUpAfter(async () => undefined, [() => [Promise.resolve()]]);
});
