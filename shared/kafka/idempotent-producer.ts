import kafkajs from 'kafkajs';
import type { Producer, RecordMetadata } from 'kafkajs';
import { withDeadline } from '../runtime/lifecycle.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import type { Piece } from './record-pieces.ts';

const DISCONNECT_TIMEOUT_MS = 5_000;

/**
 * A kafkajs producer for one request at a time. Discard it after the first failure.
 *
 * kafkajs retries a failed request even after disconnect(), for which it reconnects by itself. Such a late retry would
 * write old records after newer ones. kafkajs calls the partitioner before each attempt, so the partitioner can stop
 * this: once the producer is closed (the whole send took too long, or the producer was discarded),
 * the partitioner throws a non-retriable error and the send rejects.
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
      // The partitioner ends retries. A limited number of retries would void idempotence, as kafkajs warns.
      retry: { retries: Number.MAX_SAFE_INTEGER },
      createPartitioner:
        () =>
        ({ message }) => {
          if (this.closedBecause !== undefined) throw new kafkajs.KafkaJSNonRetriableError(this.closedBecause);
          if (message.partition === undefined) throw new kafkajs.KafkaJSNonRetriableError('a record has no partition');
          return message.partition;
        },
    });
  }

  /** @throws when no broker answers, or no broker can assign a producer id. */
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

  /**
   * Sends one request; each record must have its partition. Resolves when all in-sync replicas have stored it.
   *
   * @returns the times at which the brokers appended it, of each partition that has one
   * @throws also where kafkajs resolves without having sent a part of it
   */
  async send(pieces: readonly Piece[], timeoutMs: number): Promise<number[]> {
    const timer = setTimeout(() => {
      this.close(`no acknowledgement in ${timeoutMs} ms`);
    }, timeoutMs);
    try {
      const answers: readonly (RecordMetadata | null)[] = await this.producer.sendBatch({
        acks: -1,
        topicMessages: pieces.map(({ topic, records }) => ({ topic, messages: records.map(({ message }) => message) })),
      });
      refuseUnanswered(pieces, answers);
      // -1: a repetition of what had been stored before, or a topic with the times of producers.
      return answers.map((answer) => Number(answer?.logAppendTime ?? -1)).filter((time) => time > 0);
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

/**
 * kafkajs 2.2.4 keeps the answers of a request by broker, and its retries leave out every broker that has answered. If
 * a partition has got another leader meanwhile, and that one has answered for other partitions, its records are sent to
 * nobody, and the promise resolves (https://github.com/tulios/kafkajs/issues/1303). So each partition must be among the
 * answers; kafkajs throws for those that say an error.
 */
function refuseUnanswered(pieces: readonly Piece[], answers: readonly (RecordMetadata | null)[]): void {
  const answered = new Set(answers.map((answer) => `${answer?.topicName}|${answer?.partition}`));
  // The records of a piece are of one partition.
  const unanswered = pieces.find(({ topic, records }) => !answered.has(`${topic}|${records[0]?.message.partition}`));
  if (unanswered) throw new kafkajs.KafkaJSError(`records of ${unanswered.topic} were not sent to the new leader`);
}
