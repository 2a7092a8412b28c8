import kafkajs from 'kafkajs';
import type { IHeaders, Message, Producer, RecordMetadata } from 'kafkajs';
import { MAX_MESSAGE_BYTES } from '../../schemas/messages/topics.ts';
import { CallBatcher } from '../runtime/call-batcher.ts';
import { errorMessage } from '../runtime/errors.ts';
import { withDeadline } from '../runtime/lifecycle.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { retry } from '../runtime/retry.ts';
import { protocolErrorType } from './kafka-connection.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { isKafkaUnavailable, PublishFailed, PublishRefused } from './kafka-unavailable.ts';
import { partitionCounts } from './topic-admin.ts';

export interface OutgoingRecord {
  key: string;
  value: string | Buffer;
  headers?: IHeaders;
}

export interface TopicRecords {
  /** Without the prefix. */
  topic: string;
  records: readonly OutgoingRecord[];
}

/** Records that a broker appended at `appendedAt` of its clock, between two moments of performance.now(). */
export interface Appended {
  /** Milliseconds since 1970; the broker leaves out what is less. */
  appendedAt: number;
  notBefore: number;
  notAfter: number;
}

export interface PublisherDeps {
  kafka: KafkaConnection;
  prefix: string;
  metrics: Metrics;
  logger: Logger;
  onAppended?: (appended: Appended) => void;
}

export interface Publisher extends Running {
  /** Resolves when the broker has acknowledged every record. Records of one key keep their order. */
  publish(topic: string, records: readonly OutgoingRecord[]): Promise<void>;
  /** Like publish, for several topics in as few requests as possible. */
  publishAll(topics: readonly TopicRecords[]): Promise<void>;
}

/** A quarter of the broker's limit: no request blocks a partition for long. */
const MAX_PIECE_BYTES = 800_000;
const MAX_REQUEST_BYTES = 8_000_000;
/** Lengths, deltas and flags of one record in a batch, rounded up. */
const RECORD_OVERHEAD_BYTES = 40;
const BATCH_OVERHEAD_BYTES = 1_024;
const SEND_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 8_000;

const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_RECORD',
  'UNSUPPORTED_VERSION',
]);

/** With the prefix. */
type SizedTopics = { topic: string; records: SizedRecord[] }[];

/**
 * One idempotent producer, one request at a time, acknowledged by all in-sync replicas. Calls that arrive meanwhile
 * share the next request; there is no lingering. A failed call rejects with PublishFailed (retry it; records may then
 * be stored twice, never out of order) or PublishRefused, and the producer is discarded, since its sequence is
 * uncertain. Waits while no broker answers at the start.
 */
export async function createPublisher(options: PublisherDeps): Promise<Publisher> {
  const publisher = new SerialPublisher(options);
  await retry(() => publisher.connect(), {
    what: 'connecting a producer',
    logger: options.logger,
    isRetryable: isKafkaUnavailable,
  });
  return publisher;
}

class SerialPublisher implements Publisher {
  private readonly deps: PublisherDeps;
  private readonly partitions = new Map<string, number>();
  private readonly calls = new CallBatcher<SizedTopics, undefined>({
    run: (calls) => this.answer(calls),
    maxGroup: MAX_REQUEST_BYTES,
    sizeOf: sumBytes,
    maxRunning: 1,
  });
  private producer: IdempotentProducer | undefined;
  /** Calls are answered in their order. */
  private lastCall: Promise<unknown> = Promise.resolve();
  private stopped = false;

  constructor(deps: PublisherDeps) {
    this.deps = deps;
  }

  async connect(): Promise<IdempotentProducer> {
    this.producer ??= await IdempotentProducer.connect(this.deps.kafka);
    return this.producer;
  }

  publish(topic: string, records: readonly OutgoingRecord[]): Promise<void> {
    return this.publishAll([{ topic, records }]);
  }

  async publishAll(topics: readonly TopicRecords[]): Promise<void> {
    if (this.stopped) throw new PublishFailed('the publisher is stopped');
    const sized = topics
      .filter(({ records }) => records.length > 0)
      .map(({ topic, records }) => ({ topic: this.deps.prefix + topic, records: records.map(toSized) }));
    if (sized.length === 0) return;
    const call = this.calls.call(sized);
    this.lastCall = call.catch(() => undefined);
    await call;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await withDeadline(this.lastCall, STOP_TIMEOUT_MS, 'records were still being published at stop');
    await this.producer?.disconnect();
  }

  private async answer(calls: readonly SizedTopics[]): Promise<undefined[]> {
    try {
      await this.send(calls.flat());
      return calls.map(() => undefined);
    } catch (error) {
      this.discardProducer(error);
      throw toFailure(error);
    }
  }

  private async send(topics: SizedTopics): Promise<void> {
    const producer = await this.connect();
    const partitions = await this.assignPartitions(topics);
    for (const request of layOutRequests(partitions, MAX_REQUEST_BYTES)) {
      const notBefore = performance.now();
      const appendTimes = await producer.send(request, SEND_TIMEOUT_MS);
      const notAfter = performance.now();
      for (const appendedAt of appendTimes) this.deps.onAppended?.({ appendedAt, notBefore, notAfter });
      for (const { topic, records } of request) {
        this.deps.metrics.kafkaPublished.inc({ topic: topic.slice(this.deps.prefix.length) }, records.length);
      }
    }
  }

  private async assignPartitions(topics: SizedTopics) {
    await this.learnPartitionCounts(topics.map(({ topic }) => topic));
    const byTopic = new Map<string, SizedRecord[][]>();
    for (const { topic, records } of topics) {
      const count = this.partitions.get(topic) ?? 0;
      const byPartition = byTopic.get(topic) ?? Array.from({ length: count }, (): SizedRecord[] => []);
      byTopic.set(topic, byPartition);
      for (const record of records) {
        const partition = partitionOfKey(record.key, count);
        record.message.partition = partition;
        byPartition[partition]!.push(record);
      }
    }
    return [...byTopic].flatMap(([topic, byPartition]) =>
      byPartition.map((records) => cutPieces(topic, records, MAX_PIECE_BYTES)),
    );
  }

  /** The counts are cached for the lifetime of the publisher: they change only while producers are stopped. */
  private async learnPartitionCounts(topics: readonly string[]): Promise<void> {
    const unknown = topics.filter((topic) => !this.partitions.has(topic));
    if (unknown.length === 0) return;
    for (const [topic, count] of await partitionCounts(this.deps.kafka, [...new Set(unknown)])) {
      this.partitions.set(topic, count);
    }
  }

  private discardProducer(error: unknown): void {
    this.deps.logger.debug({ err: error }, 'publishing failed; the producer is replaced');
    const producer = this.producer;
    this.producer = undefined;
    producer?.disconnect().catch((failure: unknown) => {
      this.deps.logger.debug({ err: failure }, 'a discarded producer did not disconnect cleanly');
    });
  }
}

/** Keys and texts stay strings, of which the bytes are made once, in the request. */
function toSized({ key, value, headers }: OutgoingRecord): SizedRecord {
  const message: Message = headers ? { key, value, headers } : { key, value };
  const bytes = Buffer.byteLength(key) + Buffer.byteLength(value) + headerBytes(headers) + RECORD_OVERHEAD_BYTES;
  if (bytes > MAX_MESSAGE_BYTES - BATCH_OVERHEAD_BYTES) {
    throw new PublishRefused(`a record has ${bytes} bytes; the broker accepts at most ${MAX_MESSAGE_BYTES}`);
  }
  return { key, message, bytes };
}

function headerBytes(headers: IHeaders | undefined): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      bytes += Buffer.byteLength(name) + (one === undefined ? 0 : Buffer.byteLength(one)) + 10;
    }
  }
  return bytes;
}

function sumBytes(topics: SizedTopics): number {
  return topics.reduce((sum, { records }) => records.reduce((total, { bytes }) => total + bytes, sum), 0);
}

function toFailure(error: unknown): Error {
  const reason = errorMessage(error);
  const type = protocolErrorType(error);
  return type !== undefined && REFUSALS.has(type)
    ? new PublishRefused(`the broker refused the records: ${reason}`, { cause: error })
    : new PublishFailed(`the broker did not acknowledge: ${reason}`, { cause: error });
}

export interface SizedRecord {
  key: string;
  message: Message;
  bytes: number;
}

/** One record batch: a single partition's records, to be sent in one request. */
export interface Piece {
  topic: string;
  records: SizedRecord[];
  bytes: number;
}

/**
 * In order. kafkajs makes one record batch of all that a request has for a partition, and one above max.message.bytes
 * would always fail. A larger record becomes a piece alone.
 */
export function cutPieces(topic: string, records: readonly SizedRecord[], maxPieceBytes: number): Piece[] {
  const pieces: Piece[] = [];
  let piece: Piece | undefined;
  for (const record of records) {
    if (!piece || piece.bytes + record.bytes > maxPieceBytes) {
      piece = { topic, records: [], bytes: 0 };
      pieces.push(piece);
    }
    piece.records.push(record);
    piece.bytes += record.bytes;
  }
  return pieces;
}

/**
 * In order, at most one piece of each partition in a request: two would become one batch. Several pieces together have
 * at most `maxRequestBytes`: a broker refuses requests above socket.request.max.bytes, again at each retry.
 */
export function layOutRequests(partitions: readonly Piece[][], maxRequestBytes: number): Piece[][] {
  const most = Math.max(0, ...partitions.map(({ length }) => length));
  const requests: Piece[][] = [];
  for (let at = 0; at < most; at++) {
    let bytes = Number.POSITIVE_INFINITY;
    for (const piece of partitions.flatMap((pieces) => pieces[at] ?? [])) {
      if (bytes + piece.bytes > maxRequestBytes) {
        requests.push([]);
        bytes = 0;
      }
      requests.at(-1)!.push(piece);
      bytes += piece.bytes;
    }
  }
  return requests;
}

const DISCONNECT_TIMEOUT_MS = 5_000;

/**
 * A kafkajs producer, to be discarded after the first failure. kafkajs retries a failed request even after
 * disconnect(), and would so write old records after newer ones. It calls the partitioner before each attempt, which
 * therefore throws once the producer is closed.
 */
class IdempotentProducer {
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
   * Resolves when all in-sync replicas have stored it, with the times at which the brokers appended it.
   *
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
 * kafkajs's retries leave out brokers that have answered: records of a partition that moved to one of them are sent to
 * nobody, and the promise resolves (https://github.com/tulios/kafkajs/issues/1303).
 */
function refuseUnanswered(pieces: readonly Piece[], answers: readonly (RecordMetadata | null)[]): void {
  const answered = new Set(answers.map((answer) => `${answer?.topicName}|${answer?.partition}`));
  // The records of a piece are of one partition.
  const unanswered = pieces.find(({ topic, records }) => !answered.has(`${topic}|${records[0]?.message.partition}`));
  if (unanswered) throw new kafkajs.KafkaJSError(`records of ${unanswered.topic} were not sent to the new leader`);
}

/** Keys are ids of some ten bytes; a longer one gets a buffer of its own. */
const scratch = Buffer.allocUnsafeSlow(512);
/** A UTF-16 unit takes at most this many bytes. */
const BYTES_PER_UNIT = 3;

/** murmur2 over the UTF-8 bytes, without the sign bit, modulo the partition count, as in other producers. */
export function partitionOfKey(key: string, partitions: number): number {
  return (hashOf(key) & 0x7fffffff) % partitions;
}

function hashOf(key: string): number {
  if (key.length * BYTES_PER_UNIT <= scratch.length) return murmur2(scratch, scratch.write(key));
  const bytes = Buffer.from(key);
  return murmur2(bytes, bytes.length);
}

const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/** MurmurHash2, 32 bit, by Austin Appleby (public domain), with the seed that Kafka uses; signed result. */
function murmur2(data: Uint8Array, length: number): number {
  const whole = length & ~3;
  let h = SEED ^ length;
  for (let i = 0; i < whole; i += 4) {
    const four = data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24);
    let k = Math.imul(four, M);
    k = Math.imul(k ^ (k >>> 24), M);
    h = Math.imul(h, M) ^ k;
  }
  const rest = length - whole;
  if (rest > 0) {
    for (let i = rest - 1; i >= 0; i--) h ^= data[whole + i]! << (8 * i);
    h = Math.imul(h, M);
  }
  h = Math.imul(h ^ (h >>> 13), M);
  return h ^ (h >>> 15);
}
