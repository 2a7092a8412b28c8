import kafkajs from 'kafkajs';
import type { Producer } from 'kafkajs';
import { withDeadline } from '../runtime/lifecycle.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import type { Piece } from './record-pieces.ts';

const DISCONNECT_TIMEOUT_MS = 5_000;

/**
 * A kafkajs producer for one request at a time, to be thrown away after the first failure.
 *
 * kafkajs repeats a failed request as long as its retries last, also after disconnect(), when it connects again by
 * itself; such a late repetition would write old records behind newer ones. It asks the partitioner before every try,
 * so the partitioner is the gate: once closed (a request ran into its time limit, the whole send took too long, or the
 * producer was discarded), the next try fails for good and the send rejects by itself.
 */
export class IdempotentProducer {
  private readonly producer: Producer;
  private closedBecause: string | undefined;

  private constructor(kafka: KafkaConnection) {
    this.producer = kafka.client.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      metadataMaxAge: 60_000,
      // The gate ends retries, not a count: limiting them would void idempotence, as kafkajs warns.
      retry: { retries: Number.MAX_SAFE_INTEGER },
      createPartitioner:
        () =>
        ({ message }) => {
          if (this.closedBecause !== undefined) throw new kafkajs.KafkaJSNonRetriableError(this.closedBecause);
          if (message.partition === undefined) throw new kafkajs.KafkaJSNonRetriableError('a record has no partition');
          return message.partition;
        },
    });
    this.producer.on(this.producer.events.REQUEST_TIMEOUT, ({ payload }) => {
      this.close(`the broker did not answer in ${payload.pendingDuration} ms`);
    });
  }

  /** @throws when no broker answers, or none can give a producer id. */
  static async connect(kafka: KafkaConnection): Promise<IdempotentProducer> {
    const created = new IdempotentProducer(kafka);
    try {
      await created.producer.connect();
    } catch (error) {
      await created.disconnect().catch(() => undefined);
      throw error;
    }
    return created;
  }

  /** Sends one request; every record has its partition. Resolves when all in-sync replicas have it. */
  async send(pieces: readonly Piece[], timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.close(`no acknowledgement in ${timeoutMs} ms`);
    }, timeoutMs);
    try {
      await this.producer.sendBatch({
        acks: -1,
        topicMessages: pieces.map(({ topic, records }) => ({ topic, messages: records.map(({ message }) => message) })),
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async disconnect(): Promise<void> {
    this.close('the producer was discarded');
    await withDeadline(this.producer.disconnect(), DISCONNECT_TIMEOUT_MS, 'the producer did not disconnect in time');
  }

  private close(reason: string): void {
    this.closedBecause ??= reason;
  }
}
