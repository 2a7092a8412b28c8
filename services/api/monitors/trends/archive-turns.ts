import { isArchiveAway } from '../../../../shared/clickhouse/clickhouse-away.ts';
import { AccountTurns } from '../../http/account-turns.ts';
import { engineAway } from '../../http/api-error.ts';

/** An answer waits for its turn and the archive together so long, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_AT_ONCE = 4;

/**
 * Bounds what free questions to the archive cost: four at a time in a process, two an account. Nothing waits longer
 * than the timeout, whether for a turn or for an archive that does not answer.
 */
export class ArchiveTurns {
  private readonly ofAccounts = new AccountTurns('figures');
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  /**
   * @param gone aborts when the client has left
   * @throws ApiError rate_limited for a third question of an account, internal_error with 503 when the archive is away
   *   or busy
   */
  ask<T>(accountId: string, gone: AbortSignal | undefined, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.ofAccounts.take(accountId, () => this.withinTimeout(gone, ask));
  }

  private async withinTimeout<T>(gone: AbortSignal | undefined, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await this.inTurn(gone === undefined ? timeout : AbortSignal.any([gone, timeout]), ask);
    } catch (error) {
      if (!timeout.aborted && !isArchiveAway(error)) throw error;
      throw engineAway('The archive does not answer. Retry later.');
    }
  }

  private async inTurn<T>(signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.turn(signal);
    try {
      signal.throwIfAborted();
      return await ask(signal);
    } finally {
      this.running -= 1;
      this.waiting.shift()?.();
    }
  }

  /** Resolves when the turn is taken. @throws the signal's reason */
  private turn(signal: AbortSignal): Promise<void> {
    if (this.running < MAX_AT_ONCE) {
      this.running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const give = (): void => {
        signal.removeEventListener('abort', leave);
        this.running += 1;
        resolve();
      };
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(give), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.push(give);
    });
  }
}
