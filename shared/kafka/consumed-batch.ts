import type { IHeaders, KafkaMessage } from 'kafkajs';

export interface ConsumedRecord {
  /** Without the prefix. */
  topic: string;
  partition: number;
  offset: bigint;
  /** Empty for a record without a key. */
  key: string;
  /**
   * A view into the fetch response, which it keeps alive as a whole (megabytes): copy what outlives the batch. Empty
   * for a record without a value.
   */
  value: Buffer;
  headers: IHeaders;
  /** The broker's append time, in milliseconds since the epoch. */
  timestampMs: number;
}

/** What one call of a handler gets: consecutive records of one partition. */
export interface ConsumedBatch {
  /** Without the prefix. */
  topic: string;
  partition: number;
  /** At least one. */
  records: readonly ConsumedRecord[];
  /** The group's next offset on this partition; undefined: nothing was ever committed. */
  committedOffset: bigint | undefined;
  /**
   * Every record lies below the committed offset (read again after a seek): its effect is done and nothing is
   * committed.
   */
  isRefill: boolean;
  /**
   * False once this process may no longer own the partition, consumption was paused, or the consumer stops. Ask before
   * each effect; what was begun is repeated by whoever gets the batch next.
   */
  isCurrent(): boolean;
  /** Lets the event loop and the group's heartbeat run; await it between slices of CPU work of some 100 ms. */
  heartbeat(): Promise<void>;
  /** Aborted when the partition is lost or the consumer stops. */
  signal: AbortSignal;
}

/** A record that can never be processed, however often it is tried. */
export interface PoisonRecord {
  record: ConsumedRecord;
  /** What was being done with it: "parse" for instance. */
  step: string;
  reason: string;
}

export interface BatchOutcome {
  /** Stored with the committed offset (at most 4,096 bytes); given back to onAssigned. */
  metadata?: string;
  /** Records to set aside in the dead-letter topic. */
  poison?: readonly PoisonRecord[];
}

export function toConsumedRecord(topic: string, partition: number, message: KafkaMessage): ConsumedRecord {
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    key: message.key?.toString() ?? '',
    value: message.value ?? Buffer.alloc(0),
    headers: message.headers ?? {},
    timestampMs: Number(message.timestamp),
  };
}

/**
 * Cuts a fetched batch into units of work of at most `maxRecords`; none reaches across the committed offset, so that
 * each is either wholly a refill or wholly new.
 */
export function cutUnits(
  records: readonly ConsumedRecord[],
  committedOffset: bigint | undefined,
  maxRecords: number,
): ConsumedRecord[][] {
  const units: ConsumedRecord[][] = [];
  let unit: ConsumedRecord[] = [];
  for (const record of records) {
    if (unit.length === maxRecords || (unit.length > 0 && record.offset === committedOffset)) {
      units.push(unit);
      unit = [];
    }
    unit.push(record);
  }
  if (unit.length > 0) units.push(unit);
  return units;
}
