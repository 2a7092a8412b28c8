import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { expect, test } from 'vitest';
import { partitionOfKey } from '../../../../shared/kafka/publisher.ts';

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
