import type { IHeaders, KafkaMessage } from 'kafkajs';

export interface ConsumedRecord {
  /** Without the prefix. */
  topic: string;
  partition: number;
  offset: bigint;
  /** Empty for a record without a key. */
  key: string;
  /**
   * A view into the fetch response, which stays in memory as a whole (megabytes) while the view is referenced: copy
   * what outlives the batch. Empty for a record without a value.
   */
  value: Buffer;
  headers: IHeaders;
  /** The broker's append time, in milliseconds since the epoch. */
  timestampMs: number;
}

/** The argument of a handler: consecutive records of one partition. */
export interface ConsumedBatch {
  /** Without the prefix. */
  topic: string;
  partition: number;
  /** At least one. */
  records: readonly ConsumedRecord[];
  /** The group's next offset on this partition; undefined if nothing was ever committed. */
  committedOffset: bigint | undefined;
  /**
   * True if every record is below the committed offset, because it is read again after a seek. Its effect was already
   * applied, and nothing is committed.
   */
  isRefill: boolean;
  /**
   * False once this process may have lost the partition, consumption is paused, or the consumer stops. Check it before
   * each effect. The next owner of the partition repeats an unfinished batch.
   */
  isCurrent(): boolean;
  /** Yields to the event loop and sends a heartbeat. Await it between slices of CPU work of about 100 ms. */
  heartbeat(): Promise<void>;
  /** Aborted when the partition is lost or the consumer stops. */
  signal: AbortSignal;
}

/** A record that can never be processed, however often it is retried. */
export interface PoisonRecord {
  record: ConsumedRecord;
  /** The processing step that failed, for example "parse". */
  step: string;
  reason: string;
}

export interface BatchOutcome {
  /** Stored with the committed offset, at most 4,096 bytes; onAssigned receives it. */
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
 * Cuts a fetched batch into units of at most `maxRecords`. No unit crosses the committed offset, so each is either
 * entirely a refill or entirely new.
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
