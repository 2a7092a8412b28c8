/** Counters are 4 bits wide, eight to a word. */
const MAX_COUNT = 15;
const LOW_THREE_BITS = 0x77777777;
/** A block is a cache line: 16 words, 128 counters, four rows of 32. The four counters of a key are in one block. */
const WORDS_PER_BLOCK = 16;
const ENTRIES_PER_BLOCK = 8;
const MIN_BLOCKS = 16;
/**
 * Counts are halved after this many counted accesses per entry (the sample of the TinyLFU paper; 10 as in Caffeine).
 */
const SAMPLE_PER_ENTRY = 10;

/**
 * Estimates how often keys were requested recently: a count-min sketch of 4-bit counters with conservative update,
 * halved every 10 · capacity accesses, so that old popularity fades (Einziger, Friedman, Manes: "TinyLFU", 2017). An
 * estimate is never below the true count since the last halving (capped at 15) and rarely above it. 8 bytes an entry.
 *
 * Keys are passed as two hashes of 32 bits each, see KeyedHash.
 */
export class FrequencySketch {
  private words = new Uint32Array(MIN_BLOCKS * WORDS_PER_BLOCK);
  private blockMask = MIN_BLOCKS - 1;
  private counted = 0;

  /** Number of entries that the sketch is wide enough for. */
  get capacity(): number {
    return (this.blockMask + 1) * ENTRIES_PER_BLOCK;
  }

  /**
   * Widens the sketch to at least `entries`. Counts are kept: the index of a block is a masked hash, so after each
   * doubling a key finds its old block or the copy of it.
   */
  ensureCapacity(entries: number): void {
    while (this.capacity < entries) {
      const wider = new Uint32Array(this.words.length * 2);
      wider.set(this.words);
      wider.set(this.words, this.words.length);
      this.words = wider;
      this.blockMask = this.blockMask * 2 + 1;
    }
  }

  /** 0 to 15. */
  frequency(low: number, high: number): number {
    const start = (low & this.blockMask) * WORDS_PER_BLOCK;
    let minimum = MAX_COUNT;
    for (let row = 0; row < 4; row += 1) {
      const rowHash = high >>> (row * 8);
      const word = this.words[start + row * 4 + ((rowHash >>> 3) & 3)]!;
      minimum = Math.min(minimum, (word >>> ((rowHash & 7) * 4)) & MAX_COUNT);
    }
    return minimum;
  }

  /** Counts one access. */
  increment(low: number, high: number): void {
    const minimum = this.frequency(low, high);
    if (minimum < MAX_COUNT) {
      const start = (low & this.blockMask) * WORDS_PER_BLOCK;
      for (let row = 0; row < 4; row += 1) {
        const rowHash = high >>> (row * 8);
        const index = start + row * 4 + ((rowHash >>> 3) & 3);
        const shift = (rowHash & 7) * 4;
        // Conservative update: only counters that would otherwise be too low.
        if (((this.words[index]! >>> shift) & MAX_COUNT) === minimum) this.words[index]! += 2 ** shift;
      }
    }
    // Saturated accesses count too. Otherwise a few popular keys would stop the sketch from ageing.
    this.counted += 1;
    if (this.counted >= this.capacity * SAMPLE_PER_ENTRY) this.age();
  }

  private age(): void {
    for (let i = 0; i < this.words.length; i += 1) this.words[i] = (this.words[i]! >>> 1) & LOW_THREE_BITS;
    this.counted = Math.floor(this.counted / 2);
  }
}
