import { forumItem } from '../../schemas/messages/forum-item.ts';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import { ItemBlock } from './item-block.ts';
import type { RecentItem } from './item-block.ts';

/** An item as read from Kafka. */
export interface EnteredItem {
  offset: bigint;
  /** The broker's append time, in milliseconds since the epoch. */
  enteredAtMs: number;
  item: ForumItem;
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

/** The items of one partition in offset order. */
interface PartitionItems {
  /** The last one grows. A block leaves when all of its items are older than 30 s. */
  blocks: ItemBlock[];
  lastOffset: bigint;
  /**
   * The latest append time so far. Append times may step back when another broker leads the partition; blocks keep the
   * latest time up to each item, which never decreases, so the items since a given time are found from the end.
   */
  latestMs: number;
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
  private blockBytes = 0;

  /** @param maxBytes of all partitions together */
  constructor(maxBytes = RING_MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  /** Removes everything. Called on each assignment of partitions, which are read again from their refill offsets. */
  clear(): void {
    this.partitions.clear();
    this.blockBytes = 0;
  }

  /** Appends a copy of an item; ignores one that is already present because its batch is repeated. */
  add(partitionKey: string, item: RecentItem): void {
    const { offset, enteredAtMs } = item;
    let recent = this.partitions.get(partitionKey);
    if (recent && offset <= recent.lastOffset) {
      const first = oldestOf(recent);
      if (first !== undefined && offset >= first) return;
      // Reading started further back than the ring reaches, or the topic was created again: start with an empty ring.
      this.remove(partitionKey, recent);
      recent = undefined;
    }
    if (!recent) this.partitions.set(partitionKey, (recent = { blocks: [], lastOffset: offset, latestMs: 0 }));
    recent.lastOffset = offset;
    recent.latestMs = Math.max(recent.latestMs, enteredAtMs);
    this.append(recent, item);
    this.removeExpired(recent, enteredAtMs - RING_MS);
    while (this.bytes > this.maxBytes) this.evictFromLargest();
  }

  /** The bytes of all blocks of items. */
  get bytes(): number {
    return this.blockBytes;
  }

  /** Returns and resets the number of items that were evicted before their 30 s were over because the ring was full. */
  takeEvictedCount(): number {
    const count = this.evictedCount;
    this.evictedCount = 0;
    return count;
  }

  /** Returns the offset at which a refill of this partition must start; undefined when the partition has no items. */
  oldestOffset(partitionKey: string): bigint | undefined {
    const recent = this.partitions.get(partitionKey);
    return recent && oldestOf(recent);
  }

  /**
   * Returns the items of all partitions that entered at `fromMs` or later. Their messages are views: copy what you
   * keep.
   */
  since(fromMs: number): RecentItem[] {
    return [...this.partitions.values()].flatMap(({ blocks }) => blocks.flatMap((block) => block.since(fromMs)));
  }

  get size(): number {
    let size = 0;
    for (const { blocks } of this.partitions.values()) for (const block of blocks) size += block.size;
    return size;
  }

  private append(recent: PartitionItems, item: RecentItem): void {
    if (recent.blocks.at(-1)?.add(item, recent.latestMs) === true) return;
    const block = new ItemBlock(item.message.length);
    block.add(item, recent.latestMs);
    recent.blocks.push(block);
    this.blockBytes += block.bytes;
  }

  private removeExpired({ blocks }: PartitionItems, oldestMs: number): void {
    while (blocks.length > 0 && blocks[0]!.newestMs < oldestMs) this.dropFirst(blocks);
  }

  private remove(partitionKey: string, { blocks }: PartitionItems): void {
    while (blocks.length > 0) this.dropFirst(blocks);
    this.partitions.delete(partitionKey);
  }

  private dropFirst(blocks: ItemBlock[]): void {
    this.blockBytes -= blocks.shift()!.bytes;
  }

  /** Evicts the oldest block of the partition with the most bytes. */
  private evictFromLargest(): void {
    const [fullest] = [...this.partitions.values()].sort((a, b) => bytesOf(b) - bytesOf(a));
    const [oldest] = fullest?.blocks ?? [];
    if (!fullest || !oldest) return;
    this.evictedCount += oldest.size;
    this.dropFirst(fullest.blocks);
  }
}

function bytesOf({ blocks }: PartitionItems): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes, 0);
}

function oldestOf({ blocks }: PartitionItems): bigint | undefined {
  return blocks[0]?.oldestOffset;
}
