/** Prime factors that spread neighbouring numbers, as in MurmurHash3's finaliser. */
const SPREAD_HIGH = 0x9e3779b1;
const SPREAD = 0x85ebca6b;
const EMPTY = 0;

/**
 * Whole numbers from 1 to 2^53 - 1, each with a value of 32 bits: an open-addressing hash table with linear probing.
 * Unlike Map and Set, which put each number above 2^31 on the heap, it allocates nothing after its construction.
 */
export class NumberTable {
  private readonly keys: Float64Array;
  private readonly values: Int32Array;
  private readonly mask: number;

  /** @param most how many numbers it will hold; a third of the slots stays free at least */
  constructor(most: number) {
    const slots = slotsFor(most);
    this.keys = new Float64Array(slots);
    this.values = new Int32Array(slots);
    this.mask = slots - 1;
  }

  set(key: number, value: number): void {
    let slot = hash(key) & this.mask;
    while (this.keys[slot] !== EMPTY && this.keys[slot] !== key) slot = (slot + 1) & this.mask;
    this.keys[slot] = key;
    this.values[slot] = value;
  }

  get(key: number): number | undefined {
    for (let slot = hash(key) & this.mask; this.keys[slot] !== EMPTY; slot = (slot + 1) & this.mask) {
      if (this.keys[slot] === key) return this.values[slot];
    }
    return undefined;
  }
}

/** A set of such numbers that is emptied often, which takes no time. */
export class NumberSet {
  /** How many numbers it holds. */
  size = 0;
  private readonly keys: Float64Array;
  /** In which round a slot was filled last: those of earlier rounds are free. */
  private readonly rounds: Uint32Array;
  private readonly mask: number;
  private round = 1;

  /** @param most as for NumberTable */
  constructor(most: number) {
    const slots = slotsFor(most);
    this.keys = new Float64Array(slots);
    this.rounds = new Uint32Array(slots);
    this.mask = slots - 1;
  }

  clear(): void {
    this.size = 0;
    this.round += 1;
    if (this.round <= 0xffffffff) return;
    this.rounds.fill(0);
    this.round = 1;
  }

  has(key: number): boolean {
    for (let slot = hash(key) & this.mask; this.rounds[slot] === this.round; slot = (slot + 1) & this.mask) {
      if (this.keys[slot] === key) return true;
    }
    return false;
  }

  /** Returns false when it was there already. */
  add(key: number): boolean {
    let slot = hash(key) & this.mask;
    while (this.rounds[slot] === this.round) {
      if (this.keys[slot] === key) return false;
      slot = (slot + 1) & this.mask;
    }
    this.rounds[slot] = this.round;
    this.keys[slot] = key;
    this.size += 1;
    return true;
  }
}

function slotsFor(most: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, most) * 1.5));
}

function hash(key: number): number {
  // The lower and the upper 32 bits.
  const mixed = Math.imul((key | 0) ^ Math.imul((key / 0x1_0000_0000) | 0, SPREAD_HIGH), SPREAD);
  return mixed ^ (mixed >>> 15);
}
