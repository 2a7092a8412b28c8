export interface CallBatcherOptions<I, O> {
  /**
   * @returns one answer per input, in their order
   * @throws for each call of the group
   */
  run: (inputs: readonly I[]) => Promise<readonly O[]>;
  /** The largest size of a group; default 100. A larger input is alone. */
  maxGroup?: number;
  /** The size of an input; default 1 for each. */
  sizeOf?: (input: I) => number;
  /** The largest number of groups under way; default 2. */
  maxRunning?: number;
  /** Errors that the next group would get too: all waiting calls fail at once, so that none waits for two groups. */
  isShared?: (error: unknown) => boolean;
}

interface WaitingCall<I, O> {
  input: I;
  resolve: (answer: O) => void;
  reject: (error: unknown) => void;
}

/**
 * Answers calls that arrive in the same turn of the event loop, or while others are under way, in groups, like the
 * group commit of a database: a lone call starts at the end of its turn, and the more calls there are, the less each
 * costs. A call never joins a group that started before it.
 */
export class CallBatcher<I, O> {
  private readonly options: Required<CallBatcherOptions<I, O>>;
  private waiting: WaitingCall<I, O>[] = [];
  private running = 0;
  private isStarting = false;

  constructor(options: CallBatcherOptions<I, O>) {
    this.options = { maxGroup: 100, sizeOf: () => 1, maxRunning: 2, isShared: () => false, ...options };
  }

  call(input: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ input, resolve, reject });
      this.startSoon();
    });
  }

  /** Calls of the same turn of the event loop, such as those that an earlier group let go on, start as one group. */
  private startSoon(): void {
    if (this.isStarting) return;
    this.isStarting = true;
    setImmediate(() => {
      this.isStarting = false;
      this.startGroups();
    });
  }

  private startGroups(): void {
    while (this.running < this.options.maxRunning && this.waiting.length > 0) {
      const group = this.waiting.splice(0, this.countOfNext());
      this.running++;
      void this.answer(group).finally(() => {
        this.running--;
        this.startSoon();
      });
    }
  }

  /** How many of the waiting calls are the next group: at least one. */
  private countOfNext(): number {
    let size = 0;
    const tooMany = this.waiting.findIndex(({ input }, index) => {
      size += this.options.sizeOf(input);
      return index > 0 && size > this.options.maxGroup;
    });
    return tooMany === -1 ? this.waiting.length : tooMany;
  }

  private async answer(group: readonly WaitingCall<I, O>[]): Promise<void> {
    try {
      const answers = await this.options.run(group.map(({ input }) => input));
      if (answers.length !== group.length) throw new Error(`${answers.length} answers to ${group.length} calls`);
      for (const [index, { resolve }] of group.entries()) resolve(answers[index]!);
    } catch (error) {
      const failed = this.options.isShared(error) ? [...group, ...this.waiting.splice(0)] : group;
      for (const { reject } of failed) reject(error);
    }
  }
}
