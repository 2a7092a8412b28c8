import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { expect, test } from 'vitest';
import { partitionOfKey } from '../../../../shared/kafka/partition-of-key.ts';

test("assigns the same partition as kafkajs's default partitioner", () => {
  const partitioner = kafkajs.Partitioners.DefaultPartitioner();
  const long = fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 });
  const keys = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), long);
  const keyed = fc.tuple(keys, fc.integer({ min: 1, max: 48 }));
  fc.assert(
    fc.property(keyed, ([key, partitions]) => {
      const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
        partitionId,
        partitionErrorCode: 0,
        leader: 1,
        replicas: [1],
        isr: [1],
        offlineReplicas: [],
      }));
      const theirs = partitioner({ topic: 't', partitionMetadata, message: { key, value: '' } });
      expect(partitionOfKey(key, partitions)).toBe(theirs);
    }),
    { numRuns: 2_000 },
  );
});

test('matches values of the Java client', () => {
  // murmur2 of these strings, from Kafka's UtilsTest.
  const known: [string, number][] = [
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ];
  for (const [key, hash] of known) {
    expect(partitionOfKey(key, 1_000_003)).toBe((hash & 0x7fffffff) % 1_000_003);
  }
});
