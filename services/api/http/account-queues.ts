interface AccountQueue {
  running: number;
  /** In the order of arrival. */
  waiting: (() => void)[];
}

/** Lets each account have a few pieces of work under way at a time; its further ones wait in the order of arrival. */
export class AccountQueues {
  private readonly queues = new Map<string, AccountQueue>();
  private readonly atOnce: number;

  /** @param atOnce pieces of work that an account has under way at most */
  constructor(atOnce: number) {
    this.atOnce = atOnce;
  }

  /** @throws what `work` throws */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(accountId) ?? { running: 0, waiting: [] };
    this.queues.set(accountId, queue);
    if (queue.running < this.atOnce) queue.running += 1;
    else await new Promise<void>((resolve) => queue.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = queue.waiting.shift();
      // The next one takes this one's place.
      if (next) next();
      else queue.running -= 1;
      if (queue.running === 0) this.queues.delete(accountId);
    }
  }
}
