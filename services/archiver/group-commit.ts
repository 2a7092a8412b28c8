const FLUSH_ROWS = 5_000;
const FLUSH_AFTER_MS = 1_000;
const ALL_WAITING_MS = 200;

interface Waiting<Row> {
  rows: readonly Row[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * One insert for the rows of several partitions. Each partition's handler adds its rows and waits; the insert runs at
 * 5,000 rows, 1 s after the first of them, or 200 ms after every assigned partition is waiting (nobody is left to add
 * more). Then all of its handlers go on and commit their offsets. A failed insert fails all of them: their batches come
 * again.
 */
export class GroupCommit<Row> {
  private readonly insert: (rows: Row[]) => Promise<void>;
  private waiting: Waiting<Row>[] = [];
  private rows = 0;
  private partitions = 1;
  private deadline: NodeJS.Timeout | undefined;
  private allWaiting: NodeJS.Timeout | undefined;

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

  private schedule(): void {
    const flush = () => {
      this.flush();
    };
    this.deadline ??= setTimeout(flush, FLUSH_AFTER_MS);
    if (this.waiting.length >= this.partitions) this.allWaiting ??= setTimeout(flush, ALL_WAITING_MS);
  }

  private flush(): void {
    clearTimeout(this.deadline);
    clearTimeout(this.allWaiting);
    this.deadline = undefined;
    this.allWaiting = undefined;
    const group = this.waiting;
    if (group.length === 0) return;
    this.waiting = [];
    this.rows = 0;
    this.insert(group.flatMap(({ rows }) => rows)).then(
      () => {
        for (const { resolve } of group) resolve();
      },
      (error: unknown) => {
        for (const { reject } of group) reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }
}
