import { DEAD_LETTER_SUFFIX } from '../../schemas/messages/topics.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { ConsumedRecord, PoisonRecord } from './consumed-batch.ts';
import type { OutgoingRecord, Publisher } from './publisher.ts';

/**
 * So many records are unreadable that the fault is ours, not theirs: the consumer must stop before it drains the topic.
 */
export class TooManyDeadLetters extends Error {
  override name = 'TooManyDeadLetters';
}

export interface DeadLetterLimits {
  /** Poison records one after the other. */
  maxRun: number;
  /** Share of poison records among the last `window` to 2 × `window` records, judged from `window` / 10 records on. */
  maxRatio: number;
  window: number;
}

const DEFAULT_LIMITS: DeadLetterLimits = { maxRun: 50, maxRatio: 0.1, window: 2_000 };

/** Headers that a dead letter carries besides its original ones; replay takes them off again. */
export const DEAD_LETTER_HEADER_PREFIX = 'dead-letter-';
/** Beyond this a reason says nothing more. */
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Sets records aside in `<topic>.dead-letter` with their original key, bytes and headers, and with the source topic,
 * partition, offset, append time, group, step and reason in headers. One instance per consumer: it counts.
 */
export class DeadLetters {
  private readonly publisher: Publisher;
  private readonly group: string;
  private readonly metrics: Metrics;
  private readonly logger: Logger;
  private readonly limits: DeadLetterLimits;
  private seen = 0;
  private poisoned = 0;
  private readonly runs = new Map<string, number>();

  constructor(options: {
    publisher: Publisher;
    group: string;
    metrics: Metrics;
    logger: Logger;
    limits?: Partial<DeadLetterLimits>;
  }) {
    this.publisher = options.publisher;
    this.group = options.group;
    this.metrics = options.metrics;
    this.logger = options.logger;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /**
   * Called once per unit of work, also without poison, so that the share is known. A crash after it and before the
   * offset commit sets the same records aside again.
   *
   * @throws TooManyDeadLetters before anything of this unit is published; PublishFailed.
   */
  async setAside(records: readonly ConsumedRecord[], poison: readonly PoisonRecord[]): Promise<void> {
    const first = records[0];
    if (!first) return;
    const slot = `${first.topic}|${first.partition}`;
    const run = this.judge(records, poison, this.runs.get(slot) ?? 0);
    for (const [topic, letters] of groupByTopic(poison)) {
      await this.publisher.publish(
        topic + DEAD_LETTER_SUFFIX,
        letters.map((letter) => this.toLetter(letter)),
      );
      this.metrics.kafkaDeadLetters.inc({ topic, group: this.group }, letters.length);
      this.logger.error(
        { topic, group: this.group, records: letters.length, step: letters[0]?.step, reason: letters[0]?.reason },
        'records were set aside as dead letters',
      );
    }
    this.runs.set(slot, run);
    this.count(records.length, poison.length);
  }

  /** The length of the run of poison records that this unit ends with. */
  private judge(records: readonly ConsumedRecord[], poison: readonly PoisonRecord[], runBefore: number): number {
    if (poison.length === 0) return 0;
    const offsets = new Set(poison.map(({ record }) => record.offset));
    let run = runBefore;
    for (const { offset } of records) {
      run = offsets.has(offset) ? run + 1 : 0;
      if (run > this.limits.maxRun) throw this.tooMany(`${run} records in a row`, poison);
    }
    const seen = this.seen + records.length;
    const poisoned = this.poisoned + poison.length;
    if (seen >= this.limits.window / 10 && poisoned > seen * this.limits.maxRatio) {
      throw this.tooMany(`${poisoned} of the last ${seen} records`, poison);
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

  private tooMany(what: string, poison: readonly PoisonRecord[]): TooManyDeadLetters {
    const { topic, partition, offset } = poison[0]!.record;
    return new TooManyDeadLetters(
      `${this.group} cannot read ${what}; it stops at ${topic}/${partition} offset ${offset}: ${poison[0]!.reason}`,
    );
  }

  private toLetter({ record, step, reason }: PoisonRecord): OutgoingRecord {
    const about = {
      topic: record.topic,
      partition: String(record.partition),
      offset: String(record.offset),
      timestamp: String(record.timestampMs),
      group: this.group,
      step,
      reason: reason.slice(0, MAX_REASON_CHARACTERS),
    };
    const headers = { ...record.headers };
    for (const [name, value] of Object.entries(about)) headers[DEAD_LETTER_HEADER_PREFIX + name] = value;
    return { key: record.key, value: record.value, headers };
  }
}

function groupByTopic(poison: readonly PoisonRecord[]): Map<string, PoisonRecord[]> {
  return Map.groupBy(poison, ({ record }) => record.topic);
}
