/** Counters are 4 bits wide, eight to a word. */
const MAX_COUNT = 15;
const LOW_THREE_BITS = 0x77777777;
/** A block is a cache line: 16 words, 128 counters, four rows of 32. The four counters of a key lie in one block. */
const WORDS_PER_BLOCK = 16;
const ENTRIES_PER_BLOCK = 8;
const MIN_BLOCKS = 16;
/** Counts are halved after so many counted accesses per entry (the sample of the TinyLFU paper; 10 as in Caffeine). */
const SAMPLE_PER_ENTRY = 10;

/**
 * Estimates how often keys were asked for lately: a count-min sketch of 4-bit counters with conservative update, halved
 * every 10 · capacity accesses, so that yesterday's favourites fade (Einziger, Friedman, Manes: "TinyLFU", 2017). An
 * estimate is never below the true count since the last halving (capped at 15) and seldom above it. 8 bytes an entry.
 *
 * Keys come as two hashes of 32 bits each, see KeyedHash.
 */
export class FrequencySketch {
  private words = new Uint32Array(MIN_BLOCKS * WORDS_PER_BLOCK);
  private blockMask = MIN_BLOCKS - 1;
  private counted = 0;

  /** How many entries the sketch is wide enough for. */
  get capacity(): number {
    return (this.blockMask + 1) * ENTRIES_PER_BLOCK;
  }

  /**
   * Widens the sketch to at least `entries`. Counts are kept: a block's place is a hash under a mask, so with each
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
    let least = MAX_COUNT;
    for (let row = 0; row < 4; row += 1) {
      const place = high >>> (row * 8);
      const word = this.words[start + row * 4 + ((place >>> 3) & 3)]!;
      least = Math.min(least, (word >>> ((place & 7) * 4)) & MAX_COUNT);
    }
    return least;
  }

  /** Counts one access. */
  increment(low: number, high: number): void {
    const least = this.frequency(low, high);
    if (least < MAX_COUNT) {
      const start = (low & this.blockMask) * WORDS_PER_BLOCK;
      for (let row = 0; row < 4; row += 1) {
        const place = high >>> (row * 8);
        const index = start + row * 4 + ((place >>> 3) & 3);
        const shift = (place & 7) * 4;
        // Conservative update: only counters that would else be too low.
        if (((this.words[index]! >>> shift) & MAX_COUNT) === least) this.words[index]! += 2 ** shift;
      }
    }
    // Saturated accesses count, too: or a few favourites would keep the sketch from ageing.
    this.counted += 1;
    if (this.counted >= this.capacity * SAMPLE_PER_ENTRY) this.age();
  }

  private age(): void {
    for (let i = 0; i < this.words.length; i += 1) this.words[i] = (this.words[i]! >>> 1) & LOW_THREE_BITS;
    this.counted = Math.floor(this.counted / 2);
  }
}
