import type { Running } from '../../shared/runtime/lifecycle.ts';

const FLUSH_ROWS = 5_000;
const FLUSH_AFTER_MS = 1_000;
const ALL_WAITING_MS = 200;

interface Waiting<Row> {
  rows: readonly Row[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * One insert for the rows of several partitions. Each partition's handler adds its rows and waits; the insert runs at 5,000
 * rows, or after 1 s, or 200 ms after every assigned partition is waiting (nobody is left to add more). Then all of its
 * handlers go on and commit their offsets. A failed insert fails all of them: their batches come again.
 */
export class GroupCommit<Row> implements Running {
  private readonly insert: (rows: Row[]) => Promise<void>;
  private waiting: Waiting<Row>[] = [];
  private rows = 0;
  private partitions = 1;
  private timer: NodeJS.Timeout | undefined;
  private allWaiting = false;
  private inserting: Promise<void> = Promise.resolve();

  constructor(insert: (rows: Row[]) => Promise<void>) {
    this.insert = insert;
  }

  /** How many partitions' handlers may wait at the same time. */
  setPartitions(count: number): void {
    this.partitions = Math.max(1, count);
  }

  /** Resolves when the rows are acknowledged by the database; rejects with the insert's error. */
  add(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.waiting.push({ rows, resolve, reject });
      this.rows += rows.length;
      if (this.rows >= FLUSH_ROWS) this.flush();
      else this.schedule();
    });
  }

  async stop(): Promise<void> {
    this.flush();
    await this.inserting;
  }

  private schedule(): void {
    const allWaiting = this.waiting.length >= this.partitions;
    if (this.timer && (this.allWaiting || !allWaiting)) return;
    clearTimeout(this.timer);
    this.allWaiting = allWaiting;
    this.timer = setTimeout(
      () => {
        this.flush();
      },
      allWaiting ? ALL_WAITING_MS : FLUSH_AFTER_MS,
    );
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.allWaiting = false;
    const group = this.waiting;
    if (group.length === 0) return;
    this.waiting = [];
    this.rows = 0;
    const insert = this.insert(group.flatMap(({ rows }) => rows));
    this.inserting = insert.then(
      () => {
        for (const { resolve } of group) resolve();
      },
      (error: unknown) => {
        for (const { reject } of group) reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }
}
