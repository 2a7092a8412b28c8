import { expect, test } from 'vitest';
import { SharedAnswers } from '../../../../../services/api/coverage/shared-answers.ts';

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
