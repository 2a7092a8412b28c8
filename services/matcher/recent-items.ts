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

/** One partition's items in the order of their offsets. */
interface Recent {
  items: EnteredItem[];
  /**
   * The latest append time of each item and all before it: never falls, though append times may (another broker leads). So what
   * entered since a time is found from the end, without looking at the rest.
   */
  latestMs: number[];
}

/**
 * The ring: the last 30 s of items of every owned partition, by append time. A monitor's rule is known to the matcher a moment
 * after it began; the items that entered in between are still here.
 */
export class RecentItems {
  private readonly partitions = new Map<string, Recent>();

  /** Partitions were lost or assigned anew; what they held is read again from the refill offset. */
  clear(): void {
    this.partitions.clear();
  }

  /** Appends an item; one that is there already (its batch is repeated) is left as it is. */
  add(slot: string, entered: EnteredItem): void {
    let recent = this.partitions.get(slot);
    if (!recent) this.partitions.set(slot, (recent = { items: [], latestMs: [] }));
    const { items, latestMs } = recent;
    const [first, last] = [items[0], items.at(-1)];
    // Read from further back than the ring reaches, or the log was made anew: begin again.
    if (first && entered.offset < first.offset) items.length = latestMs.length = 0;
    else if (last && entered.offset <= last.offset) return;
    items.push(entered);
    latestMs.push(Math.max(latestMs.at(-1) ?? 0, entered.enteredAtMs));
    trim(recent, entered.enteredAtMs - RING_MS);
  }

  /** The offset at which a refill of this partition has to begin; undefined: nothing is held. */
  oldestOffset(slot: string): bigint | undefined {
    return this.partitions.get(slot)?.items[0]?.offset;
  }

  /** Every item that entered at `fromMs` or later, of all partitions. */
  since(fromMs: number): EnteredItem[] {
    return [...this.partitions.values()].flatMap(({ items, latestMs }) => {
      let first = items.length;
      while (first > 0 && latestMs[first - 1]! >= fromMs) first--;
      return items.slice(first).filter(({ enteredAtMs }) => enteredAtMs >= fromMs);
    });
  }

  get size(): number {
    let size = 0;
    for (const { items } of this.partitions.values()) size += items.length;
    return size;
  }
}

/** Cuts in blocks: a shift per item would move the whole array each time. */
function trim({ items, latestMs }: Recent, oldestMs: number): void {
  let expired = 0;
  while (expired < items.length && items[expired]!.enteredAtMs < oldestMs) expired++;
  if (expired <= 256 && expired * 2 <= items.length) return;
  items.splice(0, expired);
  latestMs.splice(0, expired);
}
