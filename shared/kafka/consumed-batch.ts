import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { z } from 'zod';
import { errorMessage } from '../runtime/errors.ts';

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

/** A handler cannot continue because of one record: it becomes a dead letter, and the handler is called without it. */
export class PoisonMessage extends Error {
  override name = 'PoisonMessage';
  readonly poison: PoisonRecord;

  constructor(poison: PoisonRecord) {
    super(`${poison.step}: ${poison.reason}`);
    this.poison = poison;
  }
}

/** Records whose value was parsed. `poison` holds the others, to be returned in the handler's outcome. */
export interface ParsedRecords<T> {
  parsed: { record: ConsumedRecord; value: T }[];
  poison: PoisonRecord[];
}

export function parseRecords<S extends z.ZodType>(
  schema: S,
  batch: { records: readonly ConsumedRecord[] },
): ParsedRecords<z.output<S>> {
  const result: ParsedRecords<z.output<S>> = { parsed: [], poison: [] };
  for (const record of batch.records) {
    const read = parseRecord(schema, record);
    if ('value' in read) result.parsed.push({ record, value: read.value });
    else result.poison.push(read);
  }
  return result;
}

/** The same for one record: its value, or why it is poison. */
export function parseRecord<S extends z.ZodType>(
  schema: S,
  record: ConsumedRecord,
): { value: z.output<S> } | PoisonRecord {
  const read = readJson(record.value);
  if ('fault' in read) return { record, step: 'parse', reason: read.fault };
  const checked = schema.safeParse(read.json);
  return checked.success ? { value: checked.data } : { record, step: 'schema', reason: describe(checked.error) };
}

function readJson(value: Buffer): { json: unknown } | { fault: string } {
  try {
    return { json: JSON.parse(value.toString()) };
  } catch (error) {
    return { fault: errorMessage(error) };
  }
}

function describe(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join('.') || 'value'}: ${message}`).join('; ');
}
