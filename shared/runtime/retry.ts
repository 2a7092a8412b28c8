import pRetry, { AbortError } from 'p-retry';
import { toError } from './errors.ts';
import type { Logger } from './logger.ts';

export interface RetryDeps {
  /** What is tried, for the log. */
  what: string;
  logger: Logger;
  /** Default: for ever. */
  retries?: number;
  minMs?: number;
  maxMs?: number;
  signal?: AbortSignal;
  /**
   * Told of each failure and of the end, for work whose many calls fail together; default: lines of this call's own.
   */
  outage?: { failed(error: unknown): void; recovered(): void };
  /** Default: every error is worth another try. */
  isRetryable?: (error: unknown) => boolean;
}

const TELL_AGAIN_MS = 60_000;

/**
 * Tries again with exponential back-off and jitter (default 100 ms to 5 s) until it works, the signal aborts, the tries
 * are used up, or the error is not worth another try; then the last error is thrown.
 */
export async function retry<T>(operation: () => Promise<T>, options: RetryDeps): Promise<T> {
  const telling = options.outage ?? new RetryTelling(options);
  const result = await pRetry(
    async () => {
      try {
        return await operation();
      } catch (error) {
        const failure = toError(error);
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
      onFailedAttempt: ({ error, attemptNumber }) => telling.failed(error, attemptNumber),
    },
  );
  telling.recovered();
  return result;
}

/** Two failures are no news. From the third on they are told once a minute, and that it worked in the end. */
class RetryTelling {
  private readonly options: RetryDeps;
  private readonly begunAt = performance.now();
  private toldAt: number | undefined;

  constructor(options: RetryDeps) {
    this.options = options;
  }

  failed(error: Error, attempt: number): void {
    const { logger, what } = this.options;
    const isNews = attempt >= 3 && performance.now() - (this.toldAt ?? Number.NEGATIVE_INFINITY) >= TELL_AGAIN_MS;
    if (isNews) this.toldAt = performance.now();
    logger[isNews ? 'warn' : 'debug']({ err: error.message, attempt }, `${what}: trying again`);
  }

  recovered(): void {
    if (this.toldAt === undefined) return;
    const seconds = Math.round((performance.now() - this.begunAt) / 1_000);
    this.options.logger.info({ seconds }, `${this.options.what}: done`);
  }
}
