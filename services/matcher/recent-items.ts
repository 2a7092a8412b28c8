import type { ForumItem } from '../../schemas/forum-item.ts';

/** An item as it came from Kafka. */
export interface EnteredItem {
  offset: bigint;
  /** The broker's append time, in milliseconds since the epoch. */
  enteredAtMs: number;
  item: ForumItem;
}

/** A new or changed monitor looks back so far. Far above the time in which a change is noticed (7 s, and a comparison). */
export const RING_MS = 30_000;

/**
 * The ring: the last 30 s of items of every owned partition, by append time. A monitor's rule is known to the matcher a moment
 * after it began; the items that entered in between are still here.
 */
export class RecentItems {
  private readonly partitions = new Map<string, EnteredItem[]>();

  /** Partitions were lost or assigned anew; what they held is read again from the refill offset. */
  clear(): void {
    this.partitions.clear();
  }

  /** Appends an item; one that is there already (its batch is repeated) is left as it is. */
  add(slot: string, entered: EnteredItem): void {
    let items = this.partitions.get(slot);
    if (!items) this.partitions.set(slot, (items = []));
    const [first, last] = [items[0], items.at(-1)];
    // Read from further back than the ring reaches, or the log was made anew: begin again.
    if (first && entered.offset < first.offset) items.length = 0;
    else if (last && entered.offset <= last.offset) return;
    items.push(entered);
    this.trim(items, entered.enteredAtMs - RING_MS);
  }

  /** Cuts in blocks: a shift per item would move the whole array each time. */
  private trim(items: EnteredItem[], oldestMs: number): void {
    let expired = 0;
    while (expired < items.length && items[expired]!.enteredAtMs < oldestMs) expired++;
    if (expired > 256 || expired * 2 > items.length) items.splice(0, expired);
  }

  /** The offset at which a refill of this partition has to begin; undefined: nothing is held. */
  oldestOffset(slot: string): bigint | undefined {
    return this.partitions.get(slot)?.[0]?.offset;
  }

  /** Every item that entered at `fromMs` or later, of all partitions. */
  since(fromMs: number): EnteredItem[] {
    return [...this.partitions.values()].flatMap((items) => items.filter(({ enteredAtMs }) => enteredAtMs >= fromMs));
  }

  get size(): number {
    let size = 0;
    for (const items of this.partitions.values()) size += items.length;
    return size;
  }
}
