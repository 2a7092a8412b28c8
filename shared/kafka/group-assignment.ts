import type { Admin } from 'kafkajs';
import type { KafkaConnection } from './kafka-connection.ts';

export interface TopicPartition {
  /** Without the prefix. */
  topic: string;
  partition: number;
}

export interface CommittedOffset extends TopicPartition {
  /** The group's next offset; undefined if nothing was ever committed. */
  offset: bigint | undefined;
  /** The metadata stored with the offset; empty if there is none. */
  metadata: string;
}

interface PartitionState {
  /** The committed offset; nothing below it is committed again. */
  committed: bigint | undefined;
  metadata: string;
  /** The expected offset of the next record; undefined if unknown. Another offset means lost records. */
  position: bigint | undefined;
  /**
   * The committed offset was out of range when this assignment was loaded, which is not yet reported. A seek of
   * onAssigned hides it from kafkajs and from the comparison of offsets.
   */
  wasReset: boolean;
  low: bigint;
  high: bigint;
}

/**
 * The partitions that this process owns between one join of its group and the next. Handlers capture it when they
 * begin; a handler of an earlier assignment must neither apply an effect nor commit.
 */
export class GroupAssignment {
  /** Resolves to true when batches may be handled, or to false if the assignment ended before that. */
  ready: Promise<boolean> = Promise.resolve(false);
  readonly partitions: readonly TopicPartition[];
  /**
   * The broker's error that this member must join again. It is thrown to kafkajs after the current unit.
   */
  rejoin: Error | undefined;
  private readonly states = new Map<string, PartitionState>();
  private readonly over = new AbortController();

  constructor(partitions: readonly TopicPartition[]) {
    this.partitions = partitions;
  }

  /** Aborted when the assignment ends. */
  get signal(): AbortSignal {
    return this.over.signal;
  }

  isOver(): boolean {
    return this.over.signal.aborted;
  }

  /** Ends the assignment: another member owns the partitions, or the consumer stops. */
  giveUp(): void {
    this.over.abort();
  }

  /** Reads the committed offset and the bounds of each owned partition. Must finish before any batch is handled. */
  async load(kafka: KafkaConnection, prefix: string, group: string): Promise<void> {
    if (this.partitions.length === 0) return;
    const topics = [...new Set(this.partitions.map(({ topic }) => topic))];
    const known = await kafka.withAdmin((admin) => readPartitionStates(admin, prefix, group, topics));
    for (const { topic, partition } of this.partitions) {
      const state = known.get(partitionKey(topic, partition));
      if (state) this.states.set(partitionKey(topic, partition), state);
    }
  }

  committed(): CommittedOffset[] {
    return this.partitions.map(({ topic, partition }) => {
      const state = this.states.get(partitionKey(topic, partition));
      return { topic, partition, offset: state?.committed, metadata: state?.metadata ?? '' };
    });
  }

  committedOffset(topic: string, partition: number): bigint | undefined {
    return this.states.get(partitionKey(topic, partition))?.committed;
  }

  /** The offset that the group reads next; undefined if the partition is not ours. */
  nextOffset(topic: string, partition: number): bigint | undefined {
    const state = this.states.get(partitionKey(topic, partition));
    return state && (state.committed === undefined || state.committed < state.low ? state.low : state.committed);
  }

  /**
   * Moves a requested seek into the bounds of the log, because kafkajs would react to an offset outside them by
   * overwriting the committed offset with "earliest". Returns undefined if the partition is not ours.
   */
  seekTo(topic: string, partition: number, offset: bigint): bigint | undefined {
    const state = this.states.get(partitionKey(topic, partition));
    if (!state) return undefined;
    const within = offset < state.low ? state.low : offset > state.high ? state.high : offset;
    state.position = within;
    return within;
  }

  /**
   * Compares the first offset of a batch with the expected one. The topics are neither compacted nor transactional, so
   * a gap means that records expired unread. A step back means that the log was truncated or recreated; then the
   * committed offset is meaningless.
   */
  checkPosition(topic: string, partition: number, first: bigint, highWatermark: bigint): 'expected' | 'reset' {
    const state = this.states.get(partitionKey(topic, partition));
    if (!state) return 'expected';
    const cut = state.committed !== undefined && state.committed > highWatermark;
    const moved = state.position !== undefined && state.position !== first;
    if (cut || (moved && state.position! > first)) state.committed = undefined;
    const isReset = cut || moved || state.wasReset;
    state.position = first;
    state.wasReset = false;
    return isReset ? 'reset' : 'expected';
  }

  resolved(topic: string, partition: number, next: bigint): void {
    const state = this.states.get(partitionKey(topic, partition));
    if (state) state.position = next;
  }

  markCommitted(topic: string, partition: number, next: bigint): void {
    const state = this.states.get(partitionKey(topic, partition));
    if (state) state.committed = next;
  }
}

/** kafkajs commits this value, "earliest", when an offset is out of range. -1 means that nothing was committed. */
const COMMITTED_EARLIEST = -2n;

function partitionKey(topic: string, partition: number): string {
  return `${topic}|${partition}`;
}

async function readPartitionStates(
  admin: Admin,
  prefix: string,
  group: string,
  topics: readonly string[],
): Promise<Map<string, PartitionState>> {
  const states = new Map<string, PartitionState>();
  const committed = await admin.fetchOffsets({
    groupId: prefix + group,
    topics: topics.map((topic) => prefix + topic),
  });
  for (const { topic, partitions } of committed) {
    for (const { partition, offset, metadata } of partitions) {
      const next = BigInt(offset) < 0n ? undefined : BigInt(offset);
      const wasReset = BigInt(offset) === COMMITTED_EARLIEST;
      const state = { committed: next, metadata: metadata ?? '', position: next, wasReset, low: 0n, high: 0n };
      states.set(partitionKey(topic.slice(prefix.length), partition), state);
    }
  }
  for (const topic of topics) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(prefix + topic)) {
      const state = states.get(partitionKey(topic, partition));
      if (!state) continue;
      Object.assign(state, { low: BigInt(low), high: BigInt(high) });
      if (state.committed !== undefined && state.committed < state.low) state.wasReset = true;
    }
  }
  return states;
}
