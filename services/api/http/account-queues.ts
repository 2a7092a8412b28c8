/**
 * Lets each account have a few pieces of work under way at a time, and all accounts together a few; further ones wait.
 * They begin in the order of arrival, except that those of an account with enough under way let others go first.
 */
export class AccountQueues {
  private readonly perAccount: number;
  private readonly atOnce: number;
  private readonly running = new Map<string, number>();
  private total = 0;
  /** In the order of arrival. */
  private readonly waiting: { accountId: string; begin: () => void }[] = [];

  /**
   * @param perAccount pieces of work that an account has under way at most
   * @param atOnce pieces of work that all accounts together have under way at most
   */
  constructor(perAccount: number, atOnce: number) {
    this.perAccount = perAccount;
    this.atOnce = atOnce;
  }

  /** @throws what `work` throws */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    // Whatever waits could not begin either, so nothing is overtaken.
    if (this.mayBegin(accountId)) this.begin(accountId);
    else await new Promise<void>((begin) => this.waiting.push({ accountId, begin }));
    try {
      return await work();
    } finally {
      this.end(accountId);
    }
  }

  private mayBegin(accountId: string): boolean {
    return this.total < this.atOnce && (this.running.get(accountId) ?? 0) < this.perAccount;
  }

  private begin(accountId: string): void {
    this.total += 1;
    this.running.set(accountId, (this.running.get(accountId) ?? 0) + 1);
  }

  private end(accountId: string): void {
    this.total -= 1;
    const left = (this.running.get(accountId) ?? 1) - 1;
    if (left > 0) this.running.set(accountId, left);
    else this.running.delete(accountId);
    const at = this.waiting.findIndex((next) => this.mayBegin(next.accountId));
    const [next] = at < 0 ? [] : this.waiting.splice(at, 1);
    if (next === undefined) return;
    this.begin(next.accountId);
    next.begin();
  }
}
