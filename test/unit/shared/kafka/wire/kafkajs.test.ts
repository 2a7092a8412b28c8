import { createRequire } from 'node:module';
import fc from 'fast-check';
import type { KafkaMessage, Message } from 'kafkajs';
import { expect, test, vi } from 'vitest';

interface Encoder {
  buffer: Buffer;
  writeInt32(value: number): Encoder;
  writeBuffer(bytes: Buffer): Encoder;
}
interface Decoder {
  offset: number;
}
type Decode = (decoder: Decoder) => Promise<KafkaMessage[]>;
type Produce = (request: object) => { encode: () => Promise<Encoder> };
type GroupMessages = (input: object) => object;

const require = createRequire(import.meta.url);
const part = (file: string): unknown => require(`kafkajs/src/${file}.js`);
const EncoderClass = part('protocol/encoder') as new () => Encoder;
const DecoderClass = part('protocol/decoder') as new (bytes: Buffer) => Decoder;
const { RecordBatch } = part('protocol/recordBatch/v0/index') as { RecordBatch: (batch: object) => Promise<Encoder> };
const encodeRecord = part('protocol/recordBatch/record/v0/index') as (record: object) => Encoder;
const DECODE = 'protocol/requests/fetch/v4/decodeMessages';
const PRODUCE = 'protocol/requests/produce/v3/request';
const GROUP = 'producer/groupMessagesPerPartition';
const original = {
  decode: loadedAnew(DECODE) as Decode,
  produce: loadedAnew(PRODUCE) as Produce,
  group: loadedAnew(GROUP) as GroupMessages,
};
await import('../../../../../shared/kafka/wire/kafkajs.ts');
const replaced = {
  decode: part(DECODE) as Decode,
  produce: part(PRODUCE) as Produce,
  group: part(GROUP) as GroupMessages,
};

/** As kafkajs has it: another file of this process may have replaced it before. */
function loadedAnew(file: string): unknown {
  const path = require.resolve(`kafkajs/src/${file}.js`);
  const loaded = require.cache[path];
  require.cache[path] = undefined;
  try {
    return require(path) as unknown;
  } finally {
    require.cache[path] = loaded;
  }
}

const texts = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ minLength: 100, maxLength: 9_000 }));
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const fields = fc.oneof(texts, bytes);
const headers = fc.dictionary(fc.string(), fc.oneof(fields, fc.array(fields, { maxLength: 3 })), { maxKeys: 3 });
const records: fc.Arbitrary<Message> = fc.record(
  { key: fc.oneof(fields, fc.constant(null)), value: fc.oneof(fields, fc.constant(null)), headers },
  { requiredKeys: ['value'] },
);
const lists = fc.array(records, { minLength: 1, maxLength: 80 });

/** A batch as a broker returns it: with offsets, and perhaps with its own time. */
async function storedBatch(
  messages: readonly Message[],
  first: number,
  { hasAppendTime = true, compression = 0 } = {},
) {
  const batch = await RecordBatch({
    compression,
    records: messages.map((message, index) =>
      encodeRecord({ ...message, offsetDelta: index, timestampDelta: hasAppendTime ? 0 : index * 1_000 - 3 }),
    ),
    firstTimestamp: 1_790_000_000_000,
    maxTimestamp: 1_790_000_123_456,
    lastOffsetDelta: messages.length - 1,
  });
  const stored = Buffer.from(batch.buffer);
  stored.writeBigInt64BE(BigInt(first), 0);
  if (hasAppendTime) stored.writeInt16BE(stored.readInt16BE(21) | 8, 21);
  return stored;
}

function answerOf(batches: readonly Buffer[]): Buffer {
  const all = Buffer.concat(batches);
  return new EncoderClass().writeInt32(all.length).writeBuffer(all).buffer;
}

/** The decoded records, and how far the decoder came. */
async function decoded(decode: Decode, answer: Buffer): Promise<object> {
  const decoder = new DecoderClass(answer);
  const messages = await decode(decoder);
  return {
    offset: decoder.offset,
    messages: messages.map(({ key, value, headers: read, offset, timestamp, attributes }) => ({
      ...{ key, value, headers: { ...read }, offset, timestamp, attributes },
    })),
  };
}

// A request contains the time.
vi.useFakeTimers({ toFake: ['Date'] });

test('the parts of kafkajs are replaced before it is loaded', () => {
  expect(replaced.decode).not.toBe(original.decode);
  expect(replaced.produce).not.toBe(original.produce);
  expect(replaced.group).not.toBe(original.group);
});

test('a produce request has the same bytes as that of kafkajs', async () => {
  const partitions = fc.array(fc.record({ partition: fc.nat(50), firstSequence: fc.nat(), messages: lists }));
  const topics = fc.array(fc.record({ topic: fc.string(), partitions }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(topics, fc.bigInt({ min: -1n, max: 2n ** 40n }), fc.nat(1_000), async (topicData, id, epoch) => {
      const request = { acks: -1, timeout: 30_000, producerId: String(id), producerEpoch: epoch, topicData };
      const [theirs, ours] = [original.produce(request), replaced.produce(request)];
      const same = { encode: 0, expectResponse: 0 };
      expect({ ...ours, ...same }).toEqual({ ...theirs, ...same });
      const [expected, actual] = [(await theirs.encode()).buffer, (await ours.encode()).buffer];
      expect(actual.equals(expected)).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test.each([
  ['a codec', { compression: 1 }],
  ['a transaction', { transactionalId: 'one' }],
])('a request with %s is left to kafkajs', async (_, special) => {
  const partition = { partition: 0, firstSequence: 0, messages: [{ key: 'a', value: 'b'.repeat(1_000) }] };
  const request = {
    acks: -1,
    timeout: 1,
    producerId: '7',
    ...special,
    topicData: [{ topic: 't', partitions: [partition] }],
  };
  const encode = async (produce: Produce) => (await produce(request).encode()).buffer;
  expect(await encode(replaced.produce)).toEqual(await encode(original.produce));
});

test('an answer to a fetch is decoded like by kafkajs, cut off anywhere', async () => {
  const batches = fc.array(fc.tuple(lists, fc.nat(2 ** 40), fc.boolean(), fc.constantFrom(0, 0, 0, 1)), {
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(batches, fc.nat(400), async (wanted, missing) => {
      const stored = await Promise.all(
        wanted.map(([messages, first, hasAppendTime, compression]) =>
          storedBatch(messages, first, { hasAppendTime, compression }),
        ),
      );
      const all = Buffer.concat(stored);
      const answer = answerOf([all.subarray(0, Math.max(100, all.length - missing))]);
      expect(await decoded(replaced.decode, answer)).toEqual(await decoded(original.decode, answer));
    }),
    { numRuns: 100 },
  );
});

test('a batch whose records do not fill it as its header says is refused, alone and before another one', async () => {
  const messages = ['a', 'b', 'c'].map((value) => ({ key: 'k', value }));
  const COUNT_AT = 57;
  const FIRST_RECORD_AT = 61;
  const damages: ((batch: Buffer) => unknown)[] = [
    (batch) => batch.writeInt32BE(4, COUNT_AT),
    (batch) => batch.writeInt32BE(2 ** 31 - 1, COUNT_AT),
    (batch) => batch.writeInt32BE(2, COUNT_AT),
    // Lengths of -1 and of 63.
    (batch) => batch.writeUInt8(1, FIRST_RECORD_AT),
    (batch) => batch.writeUInt8(126, FIRST_RECORD_AT),
  ];
  for (const damage of damages) {
    const [batch, next] = await Promise.all([storedBatch(messages, 0), storedBatch(messages, 3)]);
    expect(await replaced.decode(new DecoderClass(answerOf([batch, next])))).toHaveLength(6);
    damage(batch);
    await expect(replaced.decode(new DecoderClass(answerOf([batch])))).rejects.toThrow(RangeError);
    await expect(replaced.decode(new DecoderClass(answerOf([batch, next])))).rejects.toThrow(RangeError);
  }
});

test('records are grouped by partition in their order', () => {
  const messages = Array.from({ length: 100 }, (_, index) => ({ value: String(index) }));
  const partitioner = ({ message }: { message: Message }) => Number(message.value) % 3;
  const input = { topic: 't', partitionMetadata: [{}], messages, partitioner };
  expect(replaced.group(input)).toEqual(original.group(input));
  expect(replaced.group({ ...input, partitionMetadata: [] })).toEqual({});
});
