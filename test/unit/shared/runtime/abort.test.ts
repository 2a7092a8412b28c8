import { expect, test } from 'vitest';
import { rejectOnAbort, whenAborted } from '../../../../shared/runtime/abort.ts';

const never = new Promise<never>(() => undefined);

test('whenAborted resolves when the signal aborts', async () => {
  const controller = new AbortController();
  let isResolved = false;
  const waiting = whenAborted(controller.signal).then(() => (isResolved = true));
  await Promise.resolve();
  expect(isResolved).toBe(false);
  controller.abort();
  await waiting;
});

test('whenAborted resolves at once for a signal that has aborted', async () => {
  await whenAborted(AbortSignal.abort());
});

test('rejectOnAbort settles as the promise does', async () => {
  const { signal } = new AbortController();
  await expect(rejectOnAbort(Promise.resolve(7), signal)).resolves.toBe(7);
  await expect(rejectOnAbort(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
});

test('rejectOnAbort rejects with the reason of the signal', async () => {
  const reason = new Error('gone');
  const controller = new AbortController();
  const waiting = rejectOnAbort(never, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(rejectOnAbort(never, AbortSignal.abort(reason))).rejects.toBe(reason);
});
