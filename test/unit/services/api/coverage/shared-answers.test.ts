import { expect, test } from 'vitest';
import { SharedAnswers } from '../../../../../services/api/coverage/shared-answers.ts';

test('all who ask the same get the same bytes, which are made once', async () => {
  const answers = new SharedAnswers(60_000);
  let made = 0;
  const make = () => Promise.resolve({ made: ++made });
  const [first, second] = await Promise.all([answers.get('a', make), answers.get('a', make)]);
  expect(Buffer.from(first).toString()).toBe('{"made":1}');
  expect(second).toBe(first);
  expect(await answers.get('a', make)).toBe(first);
  expect(await answers.get('b', make)).not.toBe(first);
  expect(made).toBe(2);
});

test('ends the work for an answer when all who waited for it have left, not before', async () => {
  const answers = new SharedAnswers(60_000);
  const leave = [new AbortController(), new AbortController()];
  let abandoned: AbortSignal | undefined;
  const make = (signal: AbortSignal) => {
    abandoned = signal;
    return new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(new Error('abandoned'));
      });
    });
  };
  const asked = leave.map(({ signal }) => answers.get('a', make, signal));
  leave[0]!.abort(new Error('first left'));
  await expect(asked[0]).rejects.toThrow('first left');
  expect(abandoned?.aborted).toBe(false);
  leave[1]!.abort(new Error('second left'));
  await expect(asked[1]).rejects.toThrow('second left');
  expect(abandoned?.aborted).toBe(true);
});
