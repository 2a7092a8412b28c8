import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { rejectOnAbort, untilAborted, whenAborted } from '../../../../shared/runtime/abort.ts';

const never = new Promise<never>(() => undefined);

test('whenAborted resolves when the signal aborts', async () => {
  const controller = new AbortController();
  let isResolved = false;
  const waiting = whenAborted(controller.signal).then(() => (isResolved = true));
  await Promise.resolve();
  expect(isResolved).toBe(false);
  controller.abort();
  await waiting;
  await whenAborted(AbortSignal.abort());
});

test('untilAborted settles as the promise does, or resolves when the signal aborts', async () => {
  const controller = new AbortController();
  await untilAborted(Promise.resolve(), controller.signal);
  await expect(untilAborted(Promise.reject(new Error('broken')), controller.signal)).rejects.toThrow('broken');
  const waiting = untilAborted(never, controller.signal);
  controller.abort();
  await waiting;
  await untilAborted(never, controller.signal);
});

test('untilAborted and rejectOnAbort leave no listener on a signal that does not abort', async () => {
  const { signal } = new AbortController();
  for (let n = 0; n < 1_000; n++) {
    await untilAborted(Promise.resolve(), signal);
    await rejectOnAbort(Promise.resolve(), signal);
  }
  await new Promise(setImmediate);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
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
