import type { Random } from './random.ts';

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
