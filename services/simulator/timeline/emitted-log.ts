import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

const TAIL_BYTES = 4 * 1024 * 1024;

/**
 * One JSON line per emitted item, written after the position and before the item is served. After a kill -9 the last
 * lines may therefore be missing or incomplete. The constructor removes an incomplete line and sets `next`, the slot
 * from which the caller has to add lines.
 */
export class EmittedLog {
  private readonly descriptor: number;
  /**
   * The slot after the last logged one; 0 for an empty file; undefined for a new file, in which no lines are missing.
   */
  readonly next: number | undefined;

  constructor(path: string) {
    const isNew = !existsSync(path);
    this.descriptor = openSync(path, isNew ? 'w+' : 'r+');
    this.next = isNew ? undefined : this.repair();
  }

  private repair(): number {
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
