import type { ForumItem } from '../../schemas/messages/forum-item.ts';

/** An item as it came from Kafka. */
export interface EnteredItem {
  offset: bigint;
  /** The broker's append time, in milliseconds since the epoch. */
  enteredAtMs: number;
  item: ForumItem;
}

/**
 * A new or changed monitor looks back so far. Far above the time in which a change is noticed (7 s, and a comparison).
 */
export const RING_MS = 30_000;

/**
 * Bytes of all items at most. 30 s of the whole site at its bursts (500/s of some 2 kB in memory) are 30 MB; a replay
 * that runs at full speed could otherwise bring gigabytes.
 */
export const RING_MAX_BYTES = 256 * 1024 * 1024;
/** What an item takes besides its texts: the object, its short fields, its places in the ring. */
const ITEM_BYTES = 1_000;

/** One partition's items in the order of their offsets. */
interface PartitionItems {
  items: EnteredItem[];
  /**
   * The latest append time of each item and all before it: never falls, though append times may (another broker leads).
   * So what entered since a time is found from the end, without looking at the rest.
   */
  latestMs: number[];
  bytes: number;
}

/**
 * The ring: the last 30 s of items of every owned partition, by append time. A monitor's rule is known to the matcher a
 * moment after it began; the items that entered in between are still here, unless they were too many for `mostBytes`.
 */
export class RecentItems {
  private readonly partitions = new Map<string, PartitionItems>();
  private readonly maxBytes: number;
  /** Items given up before their 30 s were over, since the last look. */
  private evictedCount = 0;

  /** `mostBytes`: of all partitions together, as estimated. */
  constructor(maxBytes = RING_MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  /** Partitions were lost or assigned anew; what they held is read again from the refill offset. */
  clear(): void {
    this.partitions.clear();
  }

  /** Appends an item; one that is there already (its batch is repeated) is left as it is. */
  add(partitionKey: string, entered: EnteredItem): void {
    let recent = this.partitions.get(partitionKey);
    if (!recent) this.partitions.set(partitionKey, (recent = { items: [], latestMs: [], bytes: 0 }));
    const { items, latestMs } = recent;
    const [first, last] = [items[0], items.at(-1)];
    // Read from further back than the ring reaches, or the log was made anew: begin again.
    if (first && entered.offset < first.offset) items.length = latestMs.length = recent.bytes = 0;
    else if (last && entered.offset <= last.offset) return;
    items.push(entered);
    latestMs.push(Math.max(latestMs.at(-1) ?? 0, entered.enteredAtMs));
    recent.bytes += bytesOf(entered);
    removeExpired(recent, entered.enteredAtMs - RING_MS);
    while (this.bytes > this.maxBytes) this.evictFromLargest();
  }

  /** As estimated: texts at two bytes a character, and a thousand for the rest of each item. */
  get bytes(): number {
    let bytes = 0;
    for (const recent of this.partitions.values()) bytes += recent.bytes;
    return bytes;
  }

  /** Items that were given up before their 30 s were over, because the ring was full; since the last call of this. */
  takeEvictedCount(): number {
    const count = this.evictedCount;
    this.evictedCount = 0;
    return count;
  }

  /** The offset at which a refill of this partition has to begin; undefined: nothing is held. */
  oldestOffset(partitionKey: string): bigint | undefined {
    return this.partitions.get(partitionKey)?.items[0]?.offset;
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

  /** Gives up the oldest quarter of the partition that holds most bytes, and always at least one item. */
  private evictFromLargest(): void {
    const [fullest] = [...this.partitions.values()].sort((a, b) => b.bytes - a.bytes);
    if (!fullest) return;
    const count = Math.max(1, Math.floor(fullest.items.length / 4));
    removeOldest(fullest, count);
    this.evictedCount += count;
  }
}

function bytesOf({ item }: EnteredItem): number {
  return ITEM_BYTES + 2 * (item.title.length + item.body.length);
}

function removeOldest(recent: PartitionItems, count: number): void {
  for (const entered of recent.items.splice(0, count)) recent.bytes -= bytesOf(entered);
  recent.latestMs.splice(0, count);
}

/** Cuts in blocks: a shift per item would move the whole array each time. */
function removeExpired(recent: PartitionItems, oldestMs: number): void {
  const { items } = recent;
  let expired = 0;
  while (expired < items.length && items[expired]!.enteredAtMs < oldestMs) expired++;
  if (expired <= 256 && expired * 2 <= items.length) return;
  removeOldest(recent, expired);
}
