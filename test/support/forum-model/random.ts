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
