import { forumItem } from '../../schemas/messages/forum-item.ts';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';

/** An item as read from Kafka. */
export interface EnteredItem {
  offset: bigint;
  /** The broker's append time, in milliseconds since the epoch. */
  enteredAtMs: number;
  item: ForumItem;
}

/**
 * An item in the ring. It is kept as its message: as objects, the items of a replay would be most of the heap, which
 * each garbage collection marks.
 */
export interface RecentItem {
  offset: bigint;
  enteredAtMs: number;
  /** The JSON of the item. */
  message: Buffer;
}

/** Parses an item of the ring. */
export function readRecent({ offset, enteredAtMs, message }: RecentItem): EnteredItem {
  return { offset, enteredAtMs, item: forumItem.parse(JSON.parse(message.toString())) };
}

/**
 * How far back a new or changed monitor is scanned. Far longer than it takes to notice a change (7 s plus a
 * comparison).
 */
export const RING_MS = 30_000;

/**
 * Maximum bytes of all items. 30 s of the whole site during bursts (500/s of about 1 kB) take 15 MB; a replay at full
 * speed 200 MB.
 */
export const RING_MAX_BYTES = 256 * 1024 * 1024;
/** Estimated bytes of an item besides its message: the object, its fields, its entries in the ring. */
const ITEM_BYTES = 300;

/** The items of one partition in offset order. */
interface PartitionItems {
  items: RecentItem[];
  /**
   * For each item, the latest append time up to and including it. Append times may step back when another broker leads
   * the partition, but this list never decreases, so the items since a given time are found by walking from the end.
   */
  latestMs: number[];
  bytes: number;
}

/**
 * The ring: the last 30 s of items of every owned partition, by append time.
 *
 * A matcher learns of a new or changed monitor shortly after the API answered. Items that entered in between are still
 * in the ring and are scanned for that monitor, unless they were evicted because the ring exceeded `maxBytes`.
 *
 * The ring is in memory only. Each offset commit stores the oldest offset in the ring, and the next owner of the
 * partition fills its ring again from there, also after a crash.
 */
export class RecentItems {
  private readonly partitions = new Map<string, PartitionItems>();
  private readonly maxBytes: number;
  /** Items evicted before their 30 s were over, since the last call of `takeEvictedCount`. */
  private evictedCount = 0;

  /** @param maxBytes estimated bytes of all partitions together */
  constructor(maxBytes = RING_MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  /** Removes everything. Called on each assignment of partitions, which are read again from their refill offsets. */
  clear(): void {
    this.partitions.clear();
  }

  /** Appends a copy of an item; ignores one that is already present because its batch is repeated. */
  add(partitionKey: string, { offset, enteredAtMs, message }: RecentItem): void {
    let recent = this.partitions.get(partitionKey);
    if (!recent) this.partitions.set(partitionKey, (recent = { items: [], latestMs: [], bytes: 0 }));
    const { items, latestMs } = recent;
    const [first, last] = [items[0], items.at(-1)];
    // Reading started further back than the ring reaches, or the topic was created again: start with an empty ring.
    if (first && offset < first.offset) items.length = latestMs.length = recent.bytes = 0;
    else if (last && offset <= last.offset) return;
    const added = { offset, enteredAtMs, message: copyOf(message) };
    items.push(added);
    latestMs.push(Math.max(latestMs.at(-1) ?? 0, enteredAtMs));
    recent.bytes += bytesOf(added);
    removeExpired(recent, enteredAtMs - RING_MS);
    while (this.bytes > this.maxBytes) this.evictFromLargest();
  }

  /** Estimated: the bytes of the messages, plus 300 per item. */
  get bytes(): number {
    let bytes = 0;
    for (const recent of this.partitions.values()) bytes += recent.bytes;
    return bytes;
  }

  /** Returns and resets the number of items that were evicted before their 30 s were over because the ring was full. */
  takeEvictedCount(): number {
    const count = this.evictedCount;
    this.evictedCount = 0;
    return count;
  }

  /** Returns the offset at which a refill of this partition must start; undefined when the partition has no items. */
  oldestOffset(partitionKey: string): bigint | undefined {
    return this.partitions.get(partitionKey)?.items[0]?.offset;
  }

  /** Returns the items of all partitions that entered at `fromMs` or later. */
  since(fromMs: number): RecentItem[] {
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

  /** Evicts the oldest quarter, at least one item, of the partition with the most bytes. */
  private evictFromLargest(): void {
    const [fullest] = [...this.partitions.values()].sort((a, b) => b.bytes - a.bytes);
    if (!fullest) return;
    const count = Math.max(1, Math.floor(fullest.items.length / 4));
    removeOldest(fullest, count);
    this.evictedCount += count;
  }
}

/** In memory of its own: `Buffer.from` would keep 64 KB alive, which small buffers of the whole process share. */
function copyOf(message: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(message.length);
  message.copy(copy);
  return copy;
}

function bytesOf({ message }: RecentItem): number {
  return ITEM_BYTES + message.length;
}

function removeOldest(recent: PartitionItems, count: number): void {
  for (const entered of recent.items.splice(0, count)) recent.bytes -= bytesOf(entered);
  recent.latestMs.splice(0, count);
}

/** Removes expired items in blocks: removing them one by one would move the whole array each time. */
function removeExpired(recent: PartitionItems, oldestMs: number): void {
  const { items } = recent;
  let expired = 0;
  while (expired < items.length && items[expired]!.enteredAtMs < oldestMs) expired++;
  if (expired <= 256 && expired * 2 <= items.length) return;
  removeOldest(recent, expired);
}
