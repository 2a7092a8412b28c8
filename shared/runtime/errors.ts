export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of an error of Node or of a client, as in ENOENT; undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** As the promise, or rejects with the signal's reason when it aborts first; the work then continues unobserved. */
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
