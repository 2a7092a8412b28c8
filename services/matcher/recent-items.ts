import { forumItem } from '../../schemas/messages/forum-item.ts';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';

export interface RecentItem {
  offset: bigint;
  enteredAtMs: number;
  message: Buffer;
}

export interface EnteredItem {
  offset: bigint;
  /** The broker's append time, in milliseconds since the epoch. */
  enteredAtMs: number;
  item: ForumItem;
}

export function readRecent({ offset, enteredAtMs, message }: RecentItem): EnteredItem {
  return { offset, enteredAtMs, item: forumItem.parse(JSON.parse(message.toString())) };
}

/** How far back a new or changed monitor is scanned: far longer than it takes to notice a change. */
export const RECENT_MS = 30_000;

/** 30 s of the whole site in a burst take 15 MB; a replay at full speed 200 MB. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Items are removed together, because removing the first of an array moves the others. */
const ITEMS_PER_REMOVAL = 512;
const BYTES_PER_EVICTION = 256 * 1024;
/** What an item takes beside its message. */
const BYTES_PER_ITEM = 200;

interface PartitionItems {
  /**
   * `latestMs` is the latest append time up to and including the item. Append times may step back when another broker
   * leads the partition; this one never decreases, so the items since a given time are found from the end.
   */
  items: (RecentItem & { latestMs: number })[];
  bytes: number;
  lastOffset: bigint;
}

/**
 * The last 30 s of items of every owned partition, by append time.
 *
 * A matcher learns of a new or changed monitor shortly after the API answered. Items that entered in between are still
 * here and are scanned for that monitor, unless they were evicted because all together exceeded `maxBytes`.
 *
 * In memory only. Each offset commit stores the oldest offset here, and the next owner of the partition reads again
 * from there, also after a crash.
 */
export class RecentItems {
  private readonly partitions = new Map<string, PartitionItems>();
  private readonly maxBytes: number;
  /** Items evicted before their 30 s were over, since the last call of `takeEvictedCount`. */
  private evictedCount = 0;

  /** @param maxBytes of all partitions together */
  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  /** Removes everything. Called on each assignment of partitions, which are read again from their refill offsets. */
  clear(): void {
    this.partitions.clear();
  }

  /** Appends a copy of an item; ignores one that is already present because its batch is repeated. */
  add(partitionKey: string, { offset, enteredAtMs, message }: RecentItem): void {
    let recent = this.partitions.get(partitionKey);
    if (recent && offset <= recent.lastOffset) {
      const first = recent.items[0]?.offset;
      if (first !== undefined && offset >= first) return;
      // Reading started further back than these items, or the topic was created again: start empty.
      recent = undefined;
    }
    if (!recent) this.partitions.set(partitionKey, (recent = { items: [], bytes: 0, lastOffset: offset }));
    recent.lastOffset = offset;
    const latestMs = Math.max(recent.items.at(-1)?.latestMs ?? 0, enteredAtMs);
    recent.items.push({ offset, enteredAtMs, latestMs, message: Buffer.from(message) });
    recent.bytes += message.length + BYTES_PER_ITEM;
    const next = recent.items[ITEMS_PER_REMOVAL];
    if (next && next.latestMs < enteredAtMs - RECENT_MS) removeOldest(recent);
    while (this.bytes > this.maxBytes) this.evictFromLargest();
  }

  get bytes(): number {
    let bytes = 0;
    for (const partition of this.partitions.values()) bytes += partition.bytes;
    return bytes;
  }

  /** Returns and resets the number of items that were evicted before their 30 s were over because of `maxBytes`. */
  takeEvictedCount(): number {
    const count = this.evictedCount;
    this.evictedCount = 0;
    return count;
  }

  /** Returns the offset at which a refill of this partition must start; undefined when the partition has no items. */
  oldestOffset(partitionKey: string): bigint | undefined {
    return this.partitions.get(partitionKey)?.items[0]?.offset;
  }

  since(fromMs: number): RecentItem[] {
    return [...this.partitions.values()].flatMap(({ items }) => {
      const last = items.findLastIndex(({ latestMs }) => latestMs < fromMs);
      return items.slice(last + 1).filter(({ enteredAtMs }) => enteredAtMs >= fromMs);
    });
  }

  get size(): number {
    let size = 0;
    for (const { items } of this.partitions.values()) size += items.length;
    return size;
  }

  private evictFromLargest(): void {
    const [fullest] = [...this.partitions.values()].sort((a, b) => b.bytes - a.bytes);
    if (fullest) this.evictedCount += removeOldest(fullest, BYTES_PER_EVICTION);
  }
}

/** Returns how many it removed: as many as have `atLeastBytes`, up to ITEMS_PER_REMOVAL. */
function removeOldest(partition: PartitionItems, atLeastBytes = Number.POSITIVE_INFINITY): number {
  let count = 0;
  let bytes = 0;
  for (const { message } of partition.items) {
    if (count === ITEMS_PER_REMOVAL || bytes >= atLeastBytes) break;
    count += 1;
    bytes += message.length + BYTES_PER_ITEM;
  }
  partition.items.splice(0, count);
  partition.bytes -= bytes;
  return count;
}
