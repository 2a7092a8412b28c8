import { createRequire } from 'node:module';
import type { KafkaMessage, Message } from 'kafkajs';
import { decodeRecords, findBatches } from './decode-records.ts';
import type { FetchedRecord } from './decode-records.ts';
import { encodeRecords } from './encode-records.ts';

/** kafkajs's buffer with a position. */
interface Decoder {
  offset: number;
  readInt32(): number;
  readBytes(count: number): Buffer;
  canReadBytes(count: number): boolean;
}

interface Encoder {
  writeString(text: string | null): Encoder;
  writeInt16(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeBuffer(bytes: Buffer): Encoder;
}

interface PartitionData {
  partition: number;
  messages: readonly Message[];
  firstSequence: number;
}

interface ProduceRequest {
  acks: number;
  timeout: number;
  transactionalId?: string | null;
  producerId?: string | number | bigint | { value: bigint };
  producerEpoch?: number;
  compression?: number;
  topicData: readonly { topic: string; partitions: readonly PartitionData[] }[];
}

interface EncodableRequest {
  encode: () => Promise<Encoder>;
}

type DecodeBatch = (decoder: Decoder) => Promise<{ records: KafkaMessage[] }>;
type DecodeMessages = (decoder: Decoder) => Promise<(KafkaMessage | FetchedRecord)[]>;
type CreateProduceRequest = (request: ProduceRequest) => EncodableRequest;
type GroupMessages = (input: {
  topic: string;
  partitionMetadata: readonly unknown[];
  messages: readonly Message[];
  partitioner: (record: { topic: string; partitionMetadata: readonly unknown[]; message: Message }) => number;
}) => Record<number, Message[]>;

/** For everything but the records; the encoder makes more where it is not enough. */
const ROOM_BYTES = 1_024;

const require = createRequire(import.meta.url);
const EncoderClass = load('protocol/encoder') as new (bytes: number) => Encoder;
const DecoderClass = load('protocol/decoder') as new (bytes: Buffer) => Decoder;
/** Reads what `decodeRecords` does not: codecs, transactions, control records. */
const decodeUnusual = load('protocol/recordBatch/v0/decoder') as DecodeBatch;

// kafkajs 2.2.4 is feature-frozen and takes most of its time for these three. Each replacement does the same.
replace<DecodeMessages>('protocol/requests/fetch/v4/decodeMessages', decodeFetched);
replace<CreateProduceRequest>('protocol/requests/produce/v3/request', (original) => (request) => {
  const created = original(request);
  if (!isUsual(request)) return created;
  return { ...created, encode: () => Promise.resolve(encodeProduce(request)) };
});
replace<GroupMessages>('producer/groupMessagesPerPartition', () => groupMessages);

/** kafkajs with faster encoding and decoding of records. It must be loaded from here only, in every file. */
export const kafkajs = require('kafkajs') as typeof import('kafkajs');

function load(file: string): object {
  const loaded: unknown = require(`kafkajs/src/${file}.js`);
  if (typeof loaded === 'function') return loaded;
  throw new Error(`kafkajs has another ${file}: shared/kafka/wire replaces parts of 2.2.4, check it again`);
}

/** Replaces what a file of kafkajs exports, before the files that use it are loaded. */
function replace<T>(file: string, replacementOf: (original: T) => T): void {
  const original = load(file) as T;
  require.cache[require.resolve(`kafkajs/src/${file}.js`)]!.exports = replacementOf(original);
}

function decodeFetched(original: DecodeMessages): DecodeMessages {
  return async (decoder) => {
    const start = decoder.offset;
    const size = decoder.readInt32();
    if (size <= 0 || !decoder.canReadBytes(size)) return [];
    const bytes = decoder.readBytes(size);
    const batches = findBatches(bytes);
    if (batches === undefined) {
      decoder.offset = start;
      return original(decoder);
    }
    const records: (KafkaMessage | FetchedRecord)[] = [];
    for (const batch of batches) {
      const { start: from, end } = batch;
      if (batch.isUsual) decodeRecords(bytes, batch, records);
      else records.push(...(await decodeUnusual(new DecoderClass(bytes.subarray(from, end)))).records);
    }
    return records;
  };
}

/** Whether `encodeRecords` can encode it: uncompressed, without transaction, no record with a time of its own. */
function isUsual({ compression = 0, transactionalId = null, topicData }: ProduceRequest): boolean {
  return (
    compression === 0 &&
    transactionalId === null &&
    topicData.every(({ partitions }) =>
      partitions.every(({ messages }) => messages.every(({ timestamp }) => timestamp === undefined)),
    )
  );
}

/** Produce request, version 3 to 7: transactional_id acks timeout [topic [partition record_set]]. */
function encodeProduce({ acks, timeout, producerId = -1, producerEpoch = 0, topicData }: ProduceRequest): Encoder {
  const identity = {
    timestampMs: Date.now(),
    producerId: BigInt(typeof producerId === 'object' ? producerId.value : producerId),
    producerEpoch,
  };
  const topics = topicData.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition, messages, firstSequence }) => ({
      partition,
      batch: encodeRecords({ ...identity, messages, firstSequence }),
    })),
  }));
  const bytes = topics.flatMap(({ partitions }) => partitions).reduce((sum, { batch }) => sum + batch.length, 0);
  const encoder = new EncoderClass(bytes + ROOM_BYTES).writeString(null).writeInt16(acks).writeInt32(timeout);
  encoder.writeInt32(topics.length);
  for (const { topic, partitions } of topics) {
    encoder.writeString(topic).writeInt32(partitions.length);
    for (const { partition, batch } of partitions) {
      encoder.writeInt32(partition).writeInt32(batch.length).writeBuffer(batch);
    }
  }
  return encoder;
}

/** kafkajs copies the list of a partition for each record that it adds. */
function groupMessages({ topic, partitionMetadata, messages, partitioner }: Parameters<GroupMessages>[0]) {
  const byPartition: Record<number, Message[]> = {};
  if (partitionMetadata.length === 0) return byPartition;
  for (const message of messages)
    (byPartition[partitioner({ topic, partitionMetadata, message })] ??= []).push(message);
  return byPartition;
}
