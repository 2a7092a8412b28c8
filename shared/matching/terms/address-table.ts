import { mix } from '../text/tokens.ts';
import type { IntHeap } from './int-list.ts';

const SMALLEST = 8;
/** The maximum load, including tombstones. */
const LOAD = 0.75;
const EMPTY = 0;
const TOMBSTONE = -1;
/** Doubling would leave more slots empty. */
const GROWTH = 1.5;
/** 2^24 bits are 2 MB: the bitmap must stay in the cache. */
const MAX_BITMAP_BITS = 24;

/**
 * Finds records by their hash. It stores only addresses: the caller compares the records that `first` and `next` return
 * with the one it looks for. Open addressing with linear probing; a slot is two integers, the hash and the address.
 * When it is full, or full of tombstones, all slots move to a new array: with two million terms that takes about 0.1 s.
 */
export class AddressTable {
  #capacity = SMALLEST;
  #slots = new Int32Array(2 * SMALLEST);
  /** One bit for each value of the hash's upper bits. It rejects most words of a text. */
  #bitmap = new Int32Array(1 << 2);
  #shift = 32 - 7;
  /** Slots that are not empty, and those of them that are no tombstones. */
  #filled = 0;
  #live = 0;
  #slot = 0;

  get bytes(): number {
    return this.#slots.byteLength + this.#bitmap.byteLength;
  }

  /** The first record with this hash, or 0 if there is none. */
  first(hash: number): number {
    const bit = hash >>> this.#shift;
    if ((((this.#bitmap[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 0) return 0;
    return this.#probe(this.#homeOf(hash), hash);
  }

  /**
   * The next record with this hash, after the one that `first` or `next` returned, or 0 if there are no more. The table
   * must not change between the calls.
   */
  next(hash: number): number {
    return this.#probe(this.#slot + 1 === this.#capacity ? 0 : this.#slot + 1, hash);
  }

  /** @param address not 0, and not yet in the table */
  add(hash: number, address: number): void {
    if (this.#filled + 1 > LOAD * this.#capacity) this.#rebuild();
    this.#put(hash, address);
    this.#live++;
  }

  remove(hash: number, address: number): void {
    for (let found = this.first(hash); found !== 0; found = this.next(hash)) {
      if (found !== address) continue;
      this.#slots[2 * this.#slot + 1] = TOMBSTONE;
      this.#live--;
      return;
    }
  }

  #homeOf(hash: number): number {
    return Math.trunc((hash >>> 0) * (this.#capacity / 2 ** 32));
  }

  #probe(from: number, hash: number): number {
    const slots = this.#slots;
    for (let slot = from; ; slot = slot + 1 === this.#capacity ? 0 : slot + 1) {
      const address = slots[2 * slot + 1] ?? EMPTY;
      if (address === EMPTY || (address !== TOMBSTONE && slots[2 * slot] === hash)) {
        this.#slot = slot;
        return address;
      }
    }
  }

  #put(hash: number, address: number): void {
    let slot = this.#homeOf(hash);
    while (this.#slots[2 * slot + 1] !== EMPTY) slot = slot + 1 === this.#capacity ? 0 : slot + 1;
    this.#slots[2 * slot] = hash;
    this.#slots[2 * slot + 1] = address;
    this.#filled++;
    const bit = hash >>> this.#shift;
    this.#bitmap[bit >>> 5] = (this.#bitmap[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  #rebuild(): void {
    const from = this.#slots;
    if (this.#live > (LOAD / 2) * this.#capacity) this.#capacity = Math.ceil(this.#capacity * GROWTH);
    else if (this.#live < (LOAD / 8) * this.#capacity)
      this.#capacity = Math.max(SMALLEST, Math.ceil(this.#capacity / GROWTH));
    const bits = Math.min(MAX_BITMAP_BITS, 32 - Math.clz32(this.#capacity) + 3);
    this.#slots = new Int32Array(2 * this.#capacity);
    this.#bitmap = new Int32Array(1 << Math.max(0, bits - 5));
    this.#shift = 32 - bits;
    this.#filled = 0;
    for (let slot = 0; slot < from.length; slot += 2) {
      const address = from[slot + 1] ?? EMPTY;
      if (address !== EMPTY && address !== TOMBSTONE) this.#put(from[slot] ?? 0, address);
    }
  }
}

const PARENT = 0;
const SYMBOL = 1;
const CHILDREN = 2;
/** The offset of what a trie adds to its nodes. */
export const NODE_SIZE = 3;

/** The nodes of a trie whose edges are integers, all of them in one hash table. A node is an address above 0. */
export class NodeTable {
  readonly #heap: IntHeap;
  readonly #table = new AddressTable();
  readonly #size: number;

  /** @param size the integers of a node's record, at least NODE_SIZE */
  constructor(heap: IntHeap, size: number) {
    this.#heap = heap;
    this.#size = size;
  }

  createRoot(): number {
    return this.#heap.allocate(this.#size);
  }

  /** The child of this symbol, or 0 if there is none. */
  child(parent: number, symbol: number): number {
    const heap = this.#heap;
    const hash = hashOf(parent, symbol);
    let node = this.#table.first(hash);
    while (node !== 0 && !(heap.get(node + PARENT) === parent && heap.get(node + SYMBOL) === symbol)) {
      node = this.#table.next(hash);
    }
    return node;
  }

  /** The parent must have no child of this symbol. One below 0 is no node here, and its children are not counted. */
  addChild(parent: number, symbol: number): number {
    const heap = this.#heap;
    const node = heap.allocate(this.#size);
    heap.set(node + PARENT, parent);
    heap.set(node + SYMBOL, symbol);
    if (parent > 0) heap.set(parent + CHILDREN, heap.get(parent + CHILDREN) + 1);
    this.#table.add(hashOf(parent, symbol), node);
    return node;
  }

  isLeaf(node: number): boolean {
    return this.#heap.get(node + CHILDREN) === 0;
  }

  /** Removes a leaf. */
  remove(node: number): void {
    const heap = this.#heap;
    const parent = heap.get(node + PARENT);
    if (parent > 0) heap.set(parent + CHILDREN, heap.get(parent + CHILDREN) - 1);
    this.#table.remove(hashOf(parent, heap.get(node + SYMBOL)), node);
    heap.free(node, this.#size);
  }

  parent(node: number): number {
    return this.#heap.get(node + PARENT);
  }

  symbol(node: number): number {
    return this.#heap.get(node + SYMBOL);
  }
}

function hashOf(parent: number, symbol: number): number {
  return mix(Math.imul(parent, 0x9e3779b1) ^ symbol);
}
