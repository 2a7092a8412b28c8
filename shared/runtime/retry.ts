import pRetry, { AbortError } from 'p-retry';
import type { Logger } from './logger.ts';

export interface RetryOptions {
  /** What is tried, for the log. */
  what: string;
  logger: Logger;
  /** Default: for ever. */
  retries?: number;
  minMs?: number;
  maxMs?: number;
  signal?: AbortSignal;
  /** Default: every error is worth another try. */
  isRetryable?: (error: unknown) => boolean;
}

/**
 * Tries again with exponential back-off and jitter (default 100 ms to 5 s) until it works, the signal aborts, the tries are
 * used up, or the error is not worth another try; then the last error is thrown.
 */
export function retry<T>(operation: () => Promise<T>, options: RetryOptions): Promise<T> {
  return pRetry(
    async () => {
      try {
        return await operation();
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        if (options.isRetryable && !options.isRetryable(error)) throw new AbortError(failure);
        throw failure;
      }
    },
    {
      retries: options.retries ?? Number.POSITIVE_INFINITY,
      minTimeout: options.minMs ?? 100,
      maxTimeout: options.maxMs ?? 5_000,
      randomize: true,
      ...(options.signal ? { signal: options.signal } : {}),
      onFailedAttempt: ({ error, attemptNumber }) => {
        const level = attemptNumber < 3 ? 'debug' : 'warn';
        options.logger[level]({ err: error.message, attempt: attemptNumber }, `${options.what}: trying again`);
      },
    },
  );
}
