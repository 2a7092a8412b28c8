const SMALLEST = 8;
/** How full a generation may become, tombstones included. */
const LOAD = 0.75;
const EMPTY = 0;
const TOMBSTONE = -1;
/** Between generations. Doubling would leave more slots empty. */
const GROWTH = 1.5;
/** Slots that move to the new generation with each change. Three would do; more have the old one gone sooner. */
const MOVES = 64;
/** 2 MB: it has to stay in the cache. */
const MOST_BITMAP_BITS = 24;

/** Open addressing with linear probing. A slot is two integers: the hash, and the address of a record that has it. */
interface Generation {
  readonly slots: Int32Array;
  readonly capacity: number;
  /** Maps a hash, as a number of 32 bits, to a slot: capacity / 2^32. */
  readonly scale: number;
  /** A bit for each value of a hash's upper bits that occurred: most words of a text stop here. */
  readonly bitmap: Int32Array;
  readonly shift: number;
  /** Slots that are not empty. */
  filled: number;
}

function createGeneration(capacity: number): Generation {
  const bits = Math.min(MOST_BITMAP_BITS, 32 - Math.clz32(capacity) + 3);
  return {
    slots: new Int32Array(2 * capacity),
    capacity,
    scale: capacity / 2 ** 32,
    bitmap: new Int32Array(1 << Math.max(0, bits - 5)),
    shift: 32 - bits,
    filled: 0,
  };
}

function mayHold({ bitmap, shift }: Generation, hash: number): boolean {
  const bit = hash >>> shift;
  return (((bitmap[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
}

/** The slot at which the search for a hash begins. */
function homeOf({ scale }: Generation, hash: number): number {
  return Math.trunc((hash >>> 0) * scale);
}

/**
 * Finds records by their hash. It holds only addresses: the caller compares what `first` and `next` offer with what he
 * looks for. When it is full, or full of what was removed, a new generation takes over: each change moves a few slots,
 * so that no change takes long, and until all have moved both generations are searched.
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

  /** The first record with this hash; 0: none. */
  first(hash: number): number {
    const address = this.#firstIn(this.#current, hash);
    return address !== 0 || this.#previous === undefined ? address : this.#firstIn(this.#previous, hash);
  }

  /**
   * The record after the one that `first` or `next` offered, of the same hash; 0: no more. Nothing may have changed
   * meanwhile.
   */
  next(hash: number): number {
    this.#slot = this.#slot + 1 === this.#searched.capacity ? 0 : this.#slot + 1;
    const address = this.#probe(hash);
    if (address !== 0 || this.#searched === this.#previous || this.#previous === undefined) return address;
    return this.#firstIn(this.#previous, hash);
  }

  /** @param address not 0, and not in the table yet */
  add(hash: number, address: number): void {
    this.#move(MOVES);
    if (this.#current.filled + 1 > LOAD * this.#current.capacity) this.#renew();
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

  #firstIn(generation: Generation, hash: number): number {
    if (!mayHold(generation, hash)) return 0;
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

  #renew(): void {
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
