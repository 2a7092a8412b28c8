import { DEAD_LETTER_SUFFIX } from '../../schemas/messages/topics.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { ConsumedRecord, PoisonRecord } from './consumed-batch.ts';
import type { OutgoingRecord, Publisher } from './publisher.ts';

/**
 * So many records are malformed that the consumer is probably at fault: it stops before it sets the whole topic aside.
 */
export class TooManyDeadLetters extends Error {
  override name = 'TooManyDeadLetters';
  readonly position: HaltPosition;

  constructor(message: string, position: HaltPosition) {
    super(message);
    this.position = position;
  }
}

export interface HaltPosition {
  topic: string;
  partition: number;
  /** The offset of the first malformed record. */
  offset: bigint;
  /** The offset after the last record that was fetched. */
  next: bigint;
}

export interface DeadLetterLimits {
  maxRun: number;
  /** A share of the last `window` to 2 × `window` records, from `window` / 10 records on. */
  maxRatio: number;
  window: number;
}

interface DeadLettersDeps {
  publisher: Publisher;
  group: string;
  metrics: Metrics;
  logger: Logger;
  limits?: Partial<DeadLetterLimits>;
}

const DEFAULT_LIMITS: DeadLetterLimits = { maxRun: 50, maxRatio: 0.1, window: 2_000 };

/** The prefix of the headers that a dead letter has in addition to the original ones; replay removes them. */
export const DEAD_LETTER_HEADER_PREFIX = 'dead-letter-';
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Publishes poison records to `<topic>.dead-letter` as they are, with their origin and the reason in headers. One
 * instance per consumer, whose records it counts.
 */
export class DeadLetters {
  private readonly deps: DeadLettersDeps;
  private readonly limits: DeadLetterLimits;
  private seen = 0;
  private poisoned = 0;
  private readonly runs = new Map<string, number>();

  constructor(deps: DeadLettersDeps) {
    this.deps = deps;
    this.limits = { ...DEFAULT_LIMITS, ...deps.limits };
  }

  /**
   * Call it once per unit, also without poison. A crash before the offset commit publishes the letters again.
   *
   * @throws TooManyDeadLetters before anything of this unit is published
   * @throws PublishFailed when the broker is unavailable
   */
  async setAside(records: readonly ConsumedRecord[], poison: readonly PoisonRecord[]): Promise<void> {
    const first = records[0];
    if (!first) return;
    const partitionKey = `${first.topic}|${first.partition}`;
    const { publisher, group, metrics, logger } = this.deps;
    const run = this.check(records, poison, this.runs.get(partitionKey) ?? 0);
    for (const [topic, letters] of Map.groupBy(poison, ({ record }) => record.topic)) {
      await publisher.publish(
        topic + DEAD_LETTER_SUFFIX,
        letters.map((letter) => deadLetterOf(group, letter)),
      );
      metrics.kafkaDeadLetters.inc({ topic, group }, letters.length);
      logger.error(
        { topic, group, records: letters.length, step: letters[0]?.step, reason: letters[0]?.reason },
        'unreadable records were set aside as dead letters',
      );
    }
    this.runs.set(partitionKey, run);
    this.count(records.length, poison.length);
  }

  private check(records: readonly ConsumedRecord[], poison: readonly PoisonRecord[], runBefore: number): number {
    if (poison.length === 0) return 0;
    const offsets = new Set(poison.map(({ record }) => record.offset));
    let run = runBefore;
    for (const { offset } of records) {
      run = offsets.has(offset) ? run + 1 : 0;
      if (run > this.limits.maxRun) throw this.createTooManyError(`${run} records in a row`, poison);
    }
    const seen = this.seen + records.length;
    const poisoned = this.poisoned + poison.length;
    if (seen >= this.limits.window / 10 && poisoned > seen * this.limits.maxRatio) {
      throw this.createTooManyError(`${poisoned} of the last ${seen} records`, poison);
    }
    return run;
  }

  private count(seen: number, poisoned: number): void {
    this.seen += seen;
    this.poisoned += poisoned;
    if (this.seen >= 2 * this.limits.window) {
      this.seen /= 2;
      this.poisoned /= 2;
    }
  }

  private createTooManyError(what: string, poison: readonly PoisonRecord[]): TooManyDeadLetters {
    const { topic, partition, offset } = poison[0]!.record;
    const offsets = poison.map(({ record }) => record.offset);
    const next = offsets.reduce((a, b) => (a > b ? a : b)) + 1n;
    return new TooManyDeadLetters(
      `${this.deps.group} cannot read ${what}; it stops at ${topic}/${partition} offset ${offset}: ${poison[0]!.reason}`,
      { topic, partition, offset, next },
    );
  }
}

export function deadLetterOf(group: string, { record, step, reason }: PoisonRecord): OutgoingRecord {
  const about = {
    topic: record.topic,
    partition: String(record.partition),
    offset: String(record.offset),
    timestamp: String(record.timestampMs),
    group,
    step,
    reason: reason.slice(0, MAX_REASON_CHARACTERS),
  };
  const headers = { ...record.headers };
  for (const [name, value] of Object.entries(about)) headers[DEAD_LETTER_HEADER_PREFIX + name] = value;
  return { key: record.key, value: record.value, headers };
}
