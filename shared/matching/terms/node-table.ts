import { AddressTable } from './address-table.ts';
import type { IntHeap } from './int-list.ts';
import { mix } from '../text/tokens.ts';

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
