/** What a random number is for. Two decisions about one item are independent only if their purposes differ. */
export const PURPOSE = {
  postOffset: 1,
  hole: 2,
  late: 3,
  lateBy: 4,
  feistel: 5,
  thread: 6,
  parent: 7,
  community: 8,
  author: 9,
  text: 10,
  score: 11,
  lifecycle: 12,
  form: 13,
  chain: 14,
  flair: 15,
  user: 16,
  omitted: 17,
  dropped: 18,
  optedOut: 19,
  generated: 20,
} as const;

function mix(value: number): number {
  let h = value;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  return h >>> 0;
}

/** A 32-bit hash of (seed, number, purpose), number up to 2^53: murmur3's finaliser, applied to each part in turn. */
export function hash32(seed: number, number: number, purpose: number): number {
  const high = Math.floor(number / 2 ** 32);
  return mix(mix(mix(seed ^ Math.imul(purpose, 0x9e3779b1)) ^ (number >>> 0)) ^ Math.imul(high + 1, 0x27d4eb2f));
}

export function roll(seed: number, number: number, purpose: number): number {
  return hash32(seed, number, purpose) / 2 ** 32;
}

/** A stream of random numbers. The same (seed, number, purpose) always give the same stream. */
export class SeededRandom {
  private state: number;

  constructor(seed: number, number: number, purpose: number) {
    this.state = hash32(seed, number, purpose);
  }

  next(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    return mix(this.state) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}
