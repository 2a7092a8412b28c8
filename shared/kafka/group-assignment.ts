import type { Admin } from 'kafkajs';
import type { ConsumedRecord } from './consumed-batch.ts';
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

/** Records that the group never read; they expired, or the log was truncated or recreated. */
export interface UnreadRecords extends TopicPartition {
  /** From this offset to before `to`; equal when nobody knows how many there were. */
  from: bigint;
  to: bigint;
  /** When the last record before them was appended, in milliseconds since the epoch; undefined: before this join. */
  afterMs: number | undefined;
  /** When the first one after them was appended. */
  beforeMs: number;
  /** Committed with the offset at this join. */
  metadata: string;
}

interface PartitionState {
  /** The committed offset; nothing below it is committed again. */
  committed: bigint | undefined;
  metadata: string;
  /** The expected offset of the next record; undefined if unknown. Another offset means lost records. */
  position: bigint | undefined;
  /** The committed offset was out of range when loaded, which is not yet reported; a seek of onAssigned hides it. */
  wasReset: boolean;
  /** The committed offset that was out of range; undefined if it is not known. */
  resetFrom: bigint | undefined;
  /** When the last record that was handled in this assignment was appended, in milliseconds since the epoch. */
  handledAtMs: number | undefined;
  low: bigint;
  high: bigint;
}

/**
 * The partitions that this process owns from one join to the next. A handler of an earlier assignment must neither
 * apply an effect nor commit.
 */
export class GroupAssignment {
  /** Resolves to true when batches may be handled, or to false if the assignment ended before that. */
  ready: Promise<boolean> = Promise.resolve(false);
  readonly partitions: readonly TopicPartition[];
  /** The broker's error that this member must join again, thrown to kafkajs after the current unit. */
  rejoin: Error | undefined;
  private readonly states = new Map<string, PartitionState>();
  private readonly over = new AbortController();

  constructor(partitions: readonly TopicPartition[]) {
    this.partitions = partitions;
  }

  get signal(): AbortSignal {
    return this.over.signal;
  }

  isOver(): boolean {
    return this.over.signal.aborted;
  }

  giveUp(): void {
    this.over.abort();
  }

  /** Must finish before any batch is handled. @param before what was committed before this process joined */
  async load(kafka: KafkaConnection, prefix: string, group: string, before?: CommittedBefore): Promise<void> {
    if (this.partitions.length === 0) return;
    const topics = [...new Set(this.partitions.map(({ topic }) => topic))];
    const known = await kafka.withAdmin((admin) => readPartitionStates(admin, prefix, group, topics));
    for (const { topic, partition } of this.partitions) {
      const state = known.get(partitionKey(topic, partition));
      if (state?.wasReset) state.resetFrom ??= before?.get(partitionKey(topic, partition));
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
   * Moves a seek into the bounds of the log, because outside of them kafkajs would overwrite the committed offset with
   * "earliest". Undefined if the partition is not ours.
   */
  seekTo(topic: string, partition: number, offset: bigint): bigint | undefined {
    const state = this.states.get(partitionKey(topic, partition));
    if (!state) return undefined;
    const within = offset < state.low ? state.low : offset > state.high ? state.high : offset;
    state.position = within;
    return within;
  }

  /**
   * What the group never read before this batch; undefined: nothing, or `begin` was called for it. The topics are
   * neither compacted nor transactional, so a gap means that records expired, and a step back that the log was
   * truncated or recreated.
   */
  unreadBefore(
    { topic, partition, offset, timestampMs }: RecordPosition,
    highWatermark: bigint,
  ): UnreadRecords | undefined {
    const state = this.states.get(partitionKey(topic, partition));
    if (!state) return undefined;
    const { position, wasReset, resetFrom, handledAtMs: afterMs, metadata } = state;
    const isCut = wasCut(state, offset, highWatermark);
    if (!isCut && !wasReset && (position === undefined || position === offset)) return undefined;
    const expected = (wasReset ? resetFrom : position) ?? offset;
    const from = expected < offset && !isCut ? expected : offset;
    return { topic, partition, from, to: offset, afterMs, beforeMs: timestampMs, metadata };
  }

  /** The batch that begins with this record is handled next. After a cut the committed offset is meaningless. */
  begin({ topic, partition, offset }: RecordPosition, highWatermark: bigint): void {
    const state = this.states.get(partitionKey(topic, partition));
    if (!state) return;
    if (wasCut(state, offset, highWatermark)) state.committed = undefined;
    state.position = offset;
    state.wasReset = false;
  }

  resolved({ topic, partition, offset, timestampMs }: RecordPosition): void {
    const state = this.states.get(partitionKey(topic, partition));
    if (state) Object.assign(state, { position: offset + 1n, handledAtMs: timestampMs });
  }

  markCommitted(topic: string, partition: number, next: bigint): void {
    const state = this.states.get(partitionKey(topic, partition));
    if (state) state.committed = next;
  }
}

type RecordPosition = Pick<ConsumedRecord, 'topic' | 'partition' | 'offset' | 'timestampMs'>;

function wasCut({ committed, position }: PartitionState, first: bigint, highWatermark: bigint): boolean {
  return (committed !== undefined && committed > highWatermark) || (position !== undefined && position > first);
}

/** kafkajs commits this value, "earliest", when an offset is out of range. -1 means that nothing was committed. */
const COMMITTED_EARLIEST = -2n;

function partitionKey(topic: string, partition: number): string {
  return `${topic}|${partition}`;
}

export type CommittedBefore = ReadonlyMap<string, bigint>;

/** Reads what a group has committed. As soon as it is joined, kafkajs overwrites what is out of range. */
export function readCommitted(
  kafka: KafkaConnection,
  { prefix, group, topics }: { prefix: string; group: string; topics: readonly string[] },
): Promise<CommittedBefore> {
  return kafka.withAdmin(async (admin) => {
    const states = await readPartitionStates(admin, prefix, group, topics);
    return new Map([...states].flatMap(([key, { committed }]) => (committed === undefined ? [] : [[key, committed]])));
  });
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
      states.set(partitionKey(topic.slice(prefix.length), partition), {
        ...{ committed: next, metadata: metadata ?? '', position: next, wasReset, low: 0n, high: 0n },
        ...{ resetFrom: undefined, handledAtMs: undefined },
      });
    }
  }
  for (const topic of topics) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(prefix + topic)) {
      const state = states.get(partitionKey(topic, partition));
      if (!state) continue;
      Object.assign(state, { low: BigInt(low), high: BigInt(high) });
      if (state.committed === undefined || state.committed >= state.low) continue;
      state.wasReset = true;
      state.resetFrom = state.committed;
    }
  }
  return states;
}
