/** Keys are ids of some ten bytes; a longer one gets a buffer of its own. */
const scratch = Buffer.allocUnsafeSlow(512);
/** A UTF-16 unit takes at most so many bytes. */
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
