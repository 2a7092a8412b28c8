/** Lets a few streams read at a time; the others wait in the order of arrival. */
export class ReadTurns {
  private readonly waiting: (() => void)[] = [];
  private free: number;

  /** @param atOnce streams that read at the same time */
  constructor(atOnce: number) {
    this.free = atOnce;
  }

  /** Begins at once while a turn is free. @throws what `work` throws */
  async take(work: () => Promise<unknown>): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = this.waiting.shift();
      // The next one takes this one's turn.
      if (next) next();
      else this.free += 1;
    }
  }
}
