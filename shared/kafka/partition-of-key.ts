/**
 * Returns the partition of a key: murmur2 over its UTF-8 bytes, without the sign bit, modulo the partition count.
 * Kafka's Java producer and kafkajs's default partitioner do the same, so other producers of a topic agree with ours.
 */
export function partitionOfKey(key: Uint8Array, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions;
}

const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/** MurmurHash2, 32 bit, by Austin Appleby (public domain), with the seed that Kafka uses; signed result. */
function murmur2(data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const whole = data.length & ~3;
  let h = SEED ^ data.length;
  for (let i = 0; i < whole; i += 4) {
    let k = Math.imul(view.getInt32(i, true), M);
    k = Math.imul(k ^ (k >>> 24), M);
    h = Math.imul(h, M) ^ k;
  }
  const rest = data.length - whole;
  if (rest > 0) {
    for (let i = rest - 1; i >= 0; i--) h ^= view.getUint8(whole + i) << (8 * i);
    h = Math.imul(h, M);
  }
  h = Math.imul(h ^ (h >>> 13), M);
  return h ^ (h >>> 15);
}
