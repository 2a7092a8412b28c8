import { toError } from '../../shared/runtime/errors.ts';

interface Waiting<Batch> {
  batch: Batch;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Joins the batches that arrive in one turn of the event loop, which are those of one answer to a fetch: all of its
 * partitions become one transaction, whose statements cost more than their rows. No batch waits for another answer.
 */
export class JoinedBatches<Batch> {
  private readonly run: (batches: readonly Batch[]) => Promise<void>;
  private readonly sizeOf: (batch: Batch) => number;
  private readonly maxSize: number;
  private waiting: Waiting<Batch>[] = [];

  /** @param options.maxSize of the batches that are joined; a larger one is alone */
  constructor(options: {
    run: (batches: readonly Batch[]) => Promise<void>;
    sizeOf: (batch: Batch) => number;
    maxSize: number;
  }) {
    this.run = options.run;
    this.sizeOf = options.sizeOf;
    this.maxSize = options.maxSize;
  }

  /** Resolves when the batch and those that it was joined with are done; rejects with their error. */
  add(batch: Batch): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ batch, resolve, reject });
      if (this.waiting.length > 1) return;
      setImmediate(() => {
        const { waiting } = this;
        this.waiting = [];
        for (const joined of this.cut(waiting)) this.start(joined);
      });
    });
  }

  private start(joined: readonly Waiting<Batch>[]): void {
    this.run(joined.map(({ batch }) => batch)).then(
      () => {
        for (const { resolve } of joined) resolve();
      },
      (error: unknown) => {
        for (const { reject } of joined) reject(toError(error));
      },
    );
  }

  private cut(waiting: readonly Waiting<Batch>[]): Waiting<Batch>[][] {
    const all: Waiting<Batch>[][] = [];
    let size = 0;
    for (const one of waiting) {
      size += this.sizeOf(one.batch);
      const last = all.at(-1);
      if (last && size <= this.maxSize) {
        last.push(one);
        continue;
      }
      all.push([one]);
      size = this.sizeOf(one.batch);
    }
    return all;
  }
}
