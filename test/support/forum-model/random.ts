/** Seeded pseudo-random numbers: sfc32 by Chris Doty-Humphrey (PractRand). The same seed gives the same numbers. */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: number) {
    this.a = seed | 0;
    this.b = (seed ^ 0x9e3779b9) | 0;
    this.c = 0x243f6a88;
    for (let round = 0; round < 15; round++) this.bits();
  }

  /** 32 random bits. */
  bits(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    return this.bits() / 2 ** 32;
  }

  /** An integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** An exponentially distributed number with mean 1. */
  exponential(): number {
    return -Math.log(1 - this.next());
  }
}

/** Draws an index with probability proportional to its weight, in constant time (Walker and Vose's alias method). */
export class AliasTable {
  private readonly threshold: Float64Array;
  private readonly alias: Uint32Array;

  constructor(weights: ArrayLike<number>) {
    const size = weights.length;
    this.threshold = new Float64Array(size);
    this.alias = new Uint32Array(size);
    const total = Array.from(weights).reduce((sum, weight) => sum + weight, 0);
    const scaled = Float64Array.from(weights, (weight) => (weight * size) / total);
    const small: number[] = [];
    const large: number[] = [];
    for (const [index, weight] of scaled.entries()) (weight < 1 ? small : large).push(index);
    while (small.length > 0 && large.length > 0) {
      const less = small.pop()!;
      const more = large.at(-1)!;
      this.threshold[less] = scaled[less]!;
      this.alias[less] = more;
      scaled[more]! += scaled[less]! - 1;
      if (scaled[more]! < 1) small.push(large.pop()!);
    }
    for (const rest of [...small, ...large]) this.threshold[rest] = 1;
  }

  draw(random: Random): number {
    const column = random.below(this.threshold.length);
    return random.next() < this.threshold[column]! ? column : this.alias[column]!;
  }
}
