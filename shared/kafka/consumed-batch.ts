import type { IHeaders, KafkaMessage } from 'kafkajs';

export interface ConsumedRecord {
  /** Without the prefix. */
  topic: string;
  partition: number;
  offset: bigint;
  /** Empty for a record without a key. */
  key: string;
  /** A view into the fetch response, which it keeps in memory: copy what outlives the batch. May be empty. */
  value: Buffer;
  headers: IHeaders;
  /** The broker's append time, in milliseconds since the epoch. */
  timestampMs: number;
}

export interface ConsumedBatch {
  /** Without the prefix. */
  topic: string;
  partition: number;
  /** At least one. */
  records: readonly ConsumedRecord[];
  /** The group's next offset on this partition; undefined if nothing was ever committed. */
  committedOffset: bigint | undefined;
  /**
   * All records are below the committed offset, read again after a seek: their effect was applied, nothing is
   * committed.
   */
  isRefill: boolean;
  /**
   * False once the partition may be lost, on pause and on stop. Check it before each effect: the next owner repeats the
   * batch.
   */
  isCurrent(): boolean;
  /** Yields to the event loop and sends a heartbeat. Await it between slices of CPU work of about 100 ms. */
  heartbeat(): Promise<void>;
  signal: AbortSignal;
}

/** A record that can never be processed, however often it is retried. */
export interface PoisonRecord {
  record: ConsumedRecord;
  step: string;
  reason: string;
}

export interface BatchOutcome {
  /** Stored with the committed offset, at most 4,096 bytes; onAssigned receives it. */
  metadata?: string;
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

/** Cuts a batch into units of at most `maxRecords`. None crosses the committed offset: each is a refill, or new. */
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
