import { rejectOnAbort } from './errors.ts';

/**
 * At most `atOnce` pieces of work, and of one key (an account) `perKey`, in the order of arrival; those of a key with
 * enough under way let others go first.
 */
export class Semaphore {
  private readonly atOnce: number;
  private readonly perKey: number;
  private readonly running = new Map<string, number>();
  private total = 0;
  private readonly waiting: { key: string; begin: () => void }[] = [];

  constructor(atOnce: number, perKey = atOnce) {
    this.atOnce = atOnce;
    this.perKey = perKey;
  }

  /**
   * @param signal ends the waiting; work that has begun is not ended
   * @throws what `work` throws; the signal's reason
   */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    // Whatever waits could not begin either, so nothing is overtaken.
    if (this.mayBegin(key)) this.begin(key);
    else await this.wait(key, signal);
    try {
      return await work();
    } finally {
      this.end(key);
    }
  }

  private async wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<null>();
    const waiter = { key, begin: () => resolve(null) };
    this.waiting.push(waiter);
    try {
      await (signal ? rejectOnAbort(promise, signal) : promise);
    } catch (error) {
      const at = this.waiting.indexOf(waiter);
      if (at >= 0) this.waiting.splice(at, 1);
      else this.end(key);
      throw error;
    }
  }

  private mayBegin(key: string): boolean {
    return this.total < this.atOnce && (this.running.get(key) ?? 0) < this.perKey;
  }

  private begin(key: string): void {
    this.total += 1;
    this.running.set(key, (this.running.get(key) ?? 0) + 1);
  }

  private end(key: string): void {
    this.total -= 1;
    const left = (this.running.get(key) ?? 1) - 1;
    if (left > 0) this.running.set(key, left);
    else this.running.delete(key);
    const at = this.waiting.findIndex((next) => this.mayBegin(next.key));
    const [next] = at < 0 ? [] : this.waiting.splice(at, 1);
    if (next === undefined) return;
    this.begin(next.key);
    next.begin();
  }
}
