/** An entry of the cache and its position in exactly one queue. */
export interface Entry<V> {
  key: string;
  value: V;
  bytes: number;
  queue: EntryQueue<V>;
  newer: Entry<V> | undefined;
  older: Entry<V> | undefined;
}

/** Entries from least to most recently used, and the sum of their bytes. Every operation takes constant time. */
export class EntryQueue<V> {
  /** The least recently used. */
  oldest: Entry<V> | undefined;
  private newest: Entry<V> | undefined;
  bytes = 0;

  /** Appends an entry that is in no queue as the most recently used. */
  push(entry: Entry<V>): void {
    entry.queue = this;
    entry.older = this.newest;
    entry.newer = undefined;
    if (this.newest) this.newest.newer = entry;
    else this.oldest = entry;
    this.newest = entry;
    this.bytes += entry.bytes;
  }

  /** Removes an entry of this queue. */
  remove(entry: Entry<V>): void {
    if (entry.older) entry.older.newer = entry.newer;
    else this.oldest = entry.newer;
    if (entry.newer) entry.newer.older = entry.older;
    else this.newest = entry.older;
    entry.older = undefined;
    entry.newer = undefined;
    this.bytes -= entry.bytes;
  }
}
