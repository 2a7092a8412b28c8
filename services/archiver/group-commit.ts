import { toError } from '../../shared/runtime/errors.ts';

const FLUSH_ROWS = 5_000;
const FLUSH_AFTER_MS = 1_000;
/** So many rows are worth an insert of their own; they wait only for the other partitions of the same fetch. */
const WORTHWHILE_ROWS = 1_000;
const SAME_FETCH_MS = 100;

interface Waiting<Row> {
  rows: readonly Row[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Combines the rows of several partitions into one insert.
 *
 * Each partition's handler adds its rows and waits. The insert runs at 5,000 rows, 100 ms after there are 1,000, 1 s
 * after the first row, or when the handlers of all assigned partitions are waiting, because then none can add more.
 * After the insert all handlers continue and commit their offsets. A failed insert fails all of them, and their batches
 * are repeated.
 */
export class GroupCommit<Row> {
  private readonly insert: (rows: Row[]) => Promise<void>;
  private waiting: Waiting<Row>[] = [];
  private rows = 0;
  private partitions = 1;
  private deadline: NodeJS.Timeout | undefined;
  private sameFetch: NodeJS.Timeout | undefined;

  constructor(insert: (rows: Row[]) => Promise<void>) {
    this.insert = insert;
  }

  /** Sets the number of assigned partitions, which is the number of handlers that may wait at the same time. */
  setPartitions(count: number): void {
    this.partitions = Math.max(1, count);
  }

  /** Resolves when the database acknowledged the rows; rejects with the error of the insert. */
  add(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.waiting.push({ rows, resolve, reject });
      this.rows += rows.length;
      if (this.rows >= FLUSH_ROWS || this.waiting.length >= this.partitions) this.flush();
      else this.schedule();
    });
  }

  private schedule(): void {
    const flush = () => {
      this.flush();
    };
    this.deadline ??= setTimeout(flush, FLUSH_AFTER_MS);
    if (this.rows >= WORTHWHILE_ROWS) this.sameFetch ??= setTimeout(flush, SAME_FETCH_MS);
  }

  private flush(): void {
    clearTimeout(this.deadline);
    clearTimeout(this.sameFetch);
    this.deadline = undefined;
    this.sameFetch = undefined;
    const group = this.waiting;
    if (group.length === 0) return;
    this.waiting = [];
    this.rows = 0;
    this.insert(group.flatMap(({ rows }) => rows)).then(
      () => {
        for (const { resolve } of group) resolve();
      },
      (error: unknown) => {
        for (const { reject } of group) reject(toError(error));
      },
    );
  }
}
