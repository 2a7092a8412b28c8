import { expect, test } from 'vitest';
import { clusterIdFrom } from '../../../../../../services/launcher/engines/kafka/kafka-engine.ts';

test('a cluster id never begins with a dash, which the storage tool would parse as an option', () => {
  for (let first = 0; first < 256; first++) {
    expect(clusterIdFrom(Buffer.alloc(16, first))).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
  }
});
