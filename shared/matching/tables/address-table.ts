const SMALLEST = 8;
/** The maximum load of a generation, including tombstones. */
const LOAD = 0.75;
const EMPTY = 0;
const TOMBSTONE = -1;
/** The growth factor between generations. Doubling would leave more slots empty. */
const GROWTH = 1.5;
/** Slots that move to the new generation with each change. Three would suffice; more free the old one sooner. */
const MOVES = 64;
/** 2^24 bits are 2 MB: the bitmap must stay in the cache. */
const MAX_BITMAP_BITS = 24;

/** Open addressing with linear probing. A slot is two integers: the hash, and the address of a record that has it. */
interface Generation {
  readonly slots: Int32Array;
  readonly capacity: number;
  /** Maps a hash, as an unsigned 32-bit number, to a slot: capacity / 2^32. */
  readonly scale: number;
  /** One bit for each value of the hash's upper bits. It rejects most words of a text. */
  readonly bitmap: Int32Array;
  readonly shift: number;
  /** Slots that are not empty. */
  filled: number;
}

function createGeneration(capacity: number): Generation {
  const bits = Math.min(MAX_BITMAP_BITS, 32 - Math.clz32(capacity) + 3);
  return {
    slots: new Int32Array(2 * capacity),
    capacity,
    scale: capacity / 2 ** 32,
    bitmap: new Int32Array(1 << Math.max(0, bits - 5)),
    shift: 32 - bits,
    filled: 0,
  };
}

function mayContain({ bitmap, shift }: Generation, hash: number): boolean {
  const bit = hash >>> shift;
  return (((bitmap[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
}

/** The slot at which the search for a hash begins. */
function homeOf({ scale }: Generation, hash: number): number {
  return Math.trunc((hash >>> 0) * scale);
}

/**
 * Finds records by their hash. It stores only addresses: the caller compares the records that `first` and `next` return
 * with the one it looks for. When the table is full, or full of tombstones, a new generation replaces the current one.
 * Each change moves a few slots, so that no change takes long. Until all slots have moved, both generations are
 * searched.
 */
export class AddressTable {
  #current = createGeneration(SMALLEST);
  #previous: Generation | undefined;
  #moved = 0;
  #live = 0;
  #searched = this.#current;
  #slot = 0;

  get bytes(): number {
    const size = ({ slots, bitmap }: Generation): number => slots.byteLength + bitmap.byteLength;
    return size(this.#current) + (this.#previous === undefined ? 0 : size(this.#previous));
  }

  /** The first record with this hash, or 0 if there is none. */
  first(hash: number): number {
    const address = mayContain(this.#current, hash) ? this.#firstIn(this.#current, hash) : 0;
    return address !== 0 || this.#previous === undefined ? address : this.#firstInPrevious(this.#previous, hash);
  }

  /**
   * The same as `first`, sooner for a hash that the table has or that is added next, and later for others: the slot is
   * needed anyway, so the bitmap is not asked.
   */
  firstExpected(hash: number): number {
    const address = this.#firstIn(this.#current, hash);
    return address !== 0 || this.#previous === undefined ? address : this.#firstInPrevious(this.#previous, hash);
  }

  /**
   * The next record with this hash, after the one that `first` or `next` returned, or 0 if there are no more. The table
   * must not change between the calls.
   */
  next(hash: number): number {
    this.#slot = this.#slot + 1 === this.#searched.capacity ? 0 : this.#slot + 1;
    const address = this.#probe(hash);
    if (address !== 0 || this.#searched === this.#previous || this.#previous === undefined) return address;
    return this.#firstInPrevious(this.#previous, hash);
  }

  /** @param address not 0, and not yet in the table */
  add(hash: number, address: number): void {
    this.#move(MOVES);
    if (this.#current.filled + 1 > LOAD * this.#current.capacity) this.#startGeneration();
    this.#put(hash, address);
    this.#live++;
  }

  remove(hash: number, address: number): void {
    for (let found = this.first(hash); found !== 0; found = this.next(hash)) {
      if (found !== address) continue;
      this.#searched.slots[2 * this.#slot + 1] = TOMBSTONE;
      this.#live--;
      break;
    }
    this.#move(MOVES);
  }

  #firstInPrevious(previous: Generation, hash: number): number {
    return mayContain(previous, hash) ? this.#firstIn(previous, hash) : 0;
  }

  #firstIn(generation: Generation, hash: number): number {
    this.#searched = generation;
    this.#slot = homeOf(generation, hash);
    return this.#probe(hash);
  }

  #probe(hash: number): number {
    const { slots, capacity } = this.#searched;
    for (let slot = this.#slot; ; slot = slot + 1 === capacity ? 0 : slot + 1) {
      const address = slots[2 * slot + 1] ?? EMPTY;
      if (address === EMPTY || (address !== TOMBSTONE && slots[2 * slot] === hash)) {
        this.#slot = slot;
        return address;
      }
    }
  }

  #put(hash: number, address: number): void {
    const generation = this.#current;
    let slot = homeOf(generation, hash);
    while (generation.slots[2 * slot + 1] !== EMPTY) slot = slot + 1 === generation.capacity ? 0 : slot + 1;
    generation.slots[2 * slot] = hash;
    generation.slots[2 * slot + 1] = address;
    generation.filled++;
    const bit = hash >>> generation.shift;
    generation.bitmap[bit >>> 5] = (generation.bitmap[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  #startGeneration(): void {
    this.#move(Number.POSITIVE_INFINITY);
    let { capacity } = this.#current;
    this.#previous = this.#current;
    this.#moved = 0;
    if (this.#live > (LOAD / 2) * capacity) capacity = Math.ceil(capacity * GROWTH);
    else if (this.#live < (LOAD / 8) * capacity) capacity = Math.max(SMALLEST, Math.ceil(capacity / GROWTH));
    this.#current = createGeneration(capacity);
  }

  #move(count: number): void {
    const from = this.#previous;
    if (from === undefined) return;
    const end = Math.min(from.capacity, this.#moved + count);
    for (; this.#moved < end; this.#moved++) {
      const address = from.slots[2 * this.#moved + 1] ?? EMPTY;
      if (address === EMPTY || address === TOMBSTONE) continue;
      this.#put(from.slots[2 * this.#moved] ?? 0, address);
      from.slots[2 * this.#moved + 1] = TOMBSTONE;
    }
    if (this.#moved === from.capacity) this.#previous = undefined;
  }
}
