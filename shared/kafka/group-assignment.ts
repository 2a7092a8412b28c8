import type { Admin } from 'kafkajs';
import type { KafkaConnection } from './kafka-connection.ts';

export interface TopicPartition {
  /** Without the prefix. */
  topic: string;
  partition: number;
}

export interface CommittedOffset extends TopicPartition {
  /** The group's next offset; undefined: nothing was ever committed. */
  offset: bigint | undefined;
  /** As stored with the offset; empty without. */
  metadata: string;
}

interface PartitionState {
  /** Nothing below it is ever committed again. */
  committed: bigint | undefined;
  metadata: string;
  /** The offset the next record must have, unless records were lost; undefined: not known yet. */
  position: bigint | undefined;
  /** kafkajs found the committed offset out of range before this assignment was loaded; not reported yet. */
  wasReset: boolean;
  low: bigint;
  high: bigint;
}

/**
 * What this process owns between one join of its group and the next: an epoch. Handlers capture it when they begin;
 * what belongs to an earlier one must neither have an effect nor commit.
 */
export class GroupAssignment {
  /** Resolves to true when batches may be handled, to false when the assignment was given up before that. */
  ready: Promise<boolean> = Promise.resolve(false);
  readonly partitions: readonly TopicPartition[];
  /**
   * The broker's word that the group waits for this member to join again; handed to kafkajs when the unit in hand is
   * done.
   */
  rejoin: Error | undefined;
  private readonly states = new Map<string, PartitionState>();
  private readonly over = new AbortController();

  constructor(partitions: readonly TopicPartition[]) {
    this.partitions = partitions;
  }

  /** Aborted when the assignment is given up. */
  get signal(): AbortSignal {
    return this.over.signal;
  }

  isOver(): boolean {
    return this.over.signal.aborted;
  }

  /** The partitions belong to somebody else now, or the consumer stops. */
  giveUp(): void {
    this.over.abort();
  }

  /** Reads the committed offsets and the bounds of every owned partition. To be done before any batch is handled. */
  async load(kafka: KafkaConnection, prefix: string, group: string): Promise<void> {
    if (this.partitions.length === 0) return;
    const topics = [...new Set(this.partitions.map(({ topic }) => topic))];
    const known = await kafka.withAdmin((admin) => readPartitionStates(admin, prefix, group, topics));
    for (const { topic, partition } of this.partitions) {
      const state = known.get(slot(topic, partition));
      if (state) this.states.set(slot(topic, partition), state);
    }
  }

  committed(): CommittedOffset[] {
    return this.partitions.map(({ topic, partition }) => {
      const state = this.states.get(slot(topic, partition));
      return { topic, partition, offset: state?.committed, metadata: state?.metadata ?? '' };
    });
  }

  committedOffset(topic: string, partition: number): bigint | undefined {
    return this.states.get(slot(topic, partition))?.committed;
  }

  /**
   * Where a wished-for seek may go: an offset outside the log would make kafkajs overwrite the committed offset with
   * "earliest". undefined: not one of our partitions.
   */
  seekTo(topic: string, partition: number, offset: bigint): bigint | undefined {
    const state = this.states.get(slot(topic, partition));
    if (!state) return undefined;
    const within = offset < state.low ? state.low : offset > state.high ? state.high : offset;
    state.position = within;
    return within;
  }

  /**
   * Compares where a batch begins with where it should. Nothing here is compacted or transactional, so a gap means
   * records that expired unread, and a step back that the log was cut or made anew; what was committed before says
   * nothing then.
   */
  checkPosition(topic: string, partition: number, first: bigint, highWatermark: bigint): 'expected' | 'reset' {
    const state = this.states.get(slot(topic, partition));
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
    const state = this.states.get(slot(topic, partition));
    if (state) state.position = next;
  }

  markCommitted(topic: string, partition: number, next: bigint): void {
    const state = this.states.get(slot(topic, partition));
    if (state) state.committed = next;
  }
}

/** What kafkajs commits when an offset was out of range: "from the oldest record". -1 would be: nothing committed. */
const COMMITTED_EARLIEST = -2n;

function slot(topic: string, partition: number): string {
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
      states.set(slot(topic.slice(prefix.length), partition), state);
    }
  }
  for (const topic of topics) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(prefix + topic)) {
      const state = states.get(slot(topic, partition));
      if (state) Object.assign(state, { low: BigInt(low), high: BigInt(high) });
    }
  }
  return states;
}
