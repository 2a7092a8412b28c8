/** Resolves when the signal aborts, with no error. Its listener stays on the signal until then. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Settles as the promise does, or rejects with the signal's reason when the signal aborts first; the work behind the
 * promise then continues unobserved.
 */
export function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}

/** Settles when the promise does, or resolves when the signal aborts first. It leaves no listener on the signal. */
export async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  await rejectOnAbort(promise, signal).catch((error: unknown) => {
    if (!signal.aborted || error !== signal.reason) throw error;
  });
}
