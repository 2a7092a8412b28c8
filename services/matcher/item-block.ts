/** An item in the ring, kept as its message (`ItemBlock`). */
export interface RecentItem {
  offset: bigint;
  enteredAtMs: number;
  /** The JSON of the item. */
  message: Buffer;
}

const BLOCK_BYTES = 256 * 1024;
/** About as many items as a block has room for. */
const BLOCK_ITEMS = 512;
/** Of an item beside its message: offset, two times, the end of the message. */
const BYTES_PER_ITEM = 28;

/**
 * Consecutive items of a partition, their messages one behind the other, outside of the collected heap: a buffer for
 * each item would be an object that every garbage collection visits.
 */
export class ItemBlock {
  private readonly messages: Buffer;
  private readonly offsets = new BigInt64Array(BLOCK_ITEMS);
  private readonly enteredAtMs = new Float64Array(BLOCK_ITEMS);
  private readonly latestMs = new Float64Array(BLOCK_ITEMS);
  private readonly ends = new Uint32Array(BLOCK_ITEMS);
  /** How many items are in it. */
  size = 0;

  /** @param messageBytes of the first item, for which it has room in any case */
  constructor(messageBytes: number) {
    // `Buffer.alloc` could share the memory with others.
    this.messages = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, messageBytes));
  }

  /** What it takes, however many items are in it. */
  get bytes(): number {
    return this.messages.length + BLOCK_ITEMS * BYTES_PER_ITEM;
  }

  get oldestOffset(): bigint {
    return this.offsets[0]!;
  }

  /** The latest append time up to and including its last item. */
  get newestMs(): number {
    return this.latestMs[this.size - 1]!;
  }

  /**
   * Appends a copy.
   *
   * @param latestMs the latest append time up to and including this item
   * @returns false if it is full
   */
  add({ offset, enteredAtMs, message }: RecentItem, latestMs: number): boolean {
    const start = this.startOf(this.size);
    if (this.size === BLOCK_ITEMS || start + message.length > this.messages.length) return false;
    this.messages.set(message, start);
    this.offsets[this.size] = offset;
    this.enteredAtMs[this.size] = enteredAtMs;
    this.latestMs[this.size] = latestMs;
    this.ends[this.size] = start + message.length;
    this.size += 1;
    return true;
  }

  /** Its items that entered at `fromMs` or later, as views of its memory. */
  since(fromMs: number): RecentItem[] {
    let from = this.size;
    while (from > 0 && this.latestMs[from - 1]! >= fromMs) from -= 1;
    const items: RecentItem[] = [];
    for (let index = from; index < this.size; index += 1) {
      const enteredAtMs = this.enteredAtMs[index]!;
      if (enteredAtMs < fromMs) continue;
      const message = this.messages.subarray(this.startOf(index), this.ends[index]);
      items.push({ offset: this.offsets[index]!, enteredAtMs, message });
    }
    return items;
  }

  private startOf(index: number): number {
    return index === 0 ? 0 : this.ends[index - 1]!;
  }
}
