import pRetry, { AbortError } from 'p-retry';
import { toError } from './errors.ts';
import type { Logger } from './logger.ts';

export interface RetryDeps {
  what: string;
  logger: Logger;
  /** Default: unlimited. */
  retries?: number;
  minMs?: number;
  maxMs?: number;
  signal?: AbortSignal;
  /**
   * Logs the failures and the recovery of work whose many calls fail together; default: this call logs its own lines.
   */
  outage?: { failed(error: unknown): void; recovered(): void };
  /** Default: every error is retried. */
  isRetryable?: (error: unknown) => boolean;
}

const LOG_AGAIN_MS = 60_000;

/**
 * Retries with back-off and jitter (100 ms to 5 s).
 *
 * @throws the last error when the retries are used up or it is not retryable, or the signal's reason
 */
export async function retry<T>(operation: () => Promise<T>, options: RetryDeps): Promise<T> {
  const log = options.outage ?? new RetryLog(options);
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
      onFailedAttempt: ({ error, attemptNumber }) => log.failed(error, attemptNumber),
    },
  );
  log.recovered();
  return result;
}

/** Logs failures from the third on, at most once a minute, and then also the success; earlier ones at debug level. */
class RetryLog {
  private readonly options: RetryDeps;
  private readonly startedAt = performance.now();
  private loggedAt: number | undefined;

  constructor(options: RetryDeps) {
    this.options = options;
  }

  failed(error: Error, attempt: number): void {
    const { logger, what } = this.options;
    const isLogged = attempt >= 3 && performance.now() - (this.loggedAt ?? Number.NEGATIVE_INFINITY) >= LOG_AGAIN_MS;
    if (isLogged) this.loggedAt = performance.now();
    logger[isLogged ? 'warn' : 'debug']({ err: error.message, attempt }, `${what}: trying again`);
  }

  recovered(): void {
    if (this.loggedAt === undefined) return;
    const seconds = Math.round((performance.now() - this.startedAt) / 1_000);
    this.options.logger.info({ seconds }, `${this.options.what}: done`);
  }
}
