import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

const TAIL_BYTES = 4 * 1024 * 1024;

/**
 * One JSON line per emitted item, written after the position and before the item can be seen. So after kill -9 the log
 * may lack the items of the last moment, or end within a line: opening it cuts the torn line off, and says from which
 * slot on lines are owed.
 */
export class EmittedLog {
  private readonly descriptor: number;
  /** The slot after the last logged one; undefined for a new file, which owes nothing; 0 for an empty one. */
  readonly next: number | undefined;

  constructor(path: string) {
    const isNew = !existsSync(path);
    this.descriptor = openSync(path, isNew ? 'w+' : 'r+');
    this.next = isNew ? undefined : this.mend();
  }

  private mend(): number {
    const size = fstatSync(this.descriptor).size;
    const start = Math.max(0, size - TAIL_BYTES);
    const tail = Buffer.alloc(size - start);
    readSync(this.descriptor, tail, 0, tail.length, start);
    const end = tail.lastIndexOf(10) + 1;
    ftruncateSync(this.descriptor, start + end);
    if (end === 0) return 0;
    const line = tail.subarray(tail.lastIndexOf(10, end - 2) + 1, end).toString();
    const last = JSON.parse(line) as { k: number };
    return last.k + 1;
  }

  append(items: readonly object[]): void {
    if (items.length === 0) return;
    const lines = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    let done = 0;
    const size = fstatSync(this.descriptor).size;
    while (done < lines.length) done += writeSync(this.descriptor, lines, done, lines.length - done, size + done);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
