import type { IntHeap } from './int-heap.ts';

/** A block: its length in code units and this flag, then the units, one byte each where all are below 256, else two. */
const IS_WIDE = 1 << 30;
/** Blocks have lengths of a few kinds only, in integers, so that one that was given back fits the next. */
const STEP = 8;

/**
 * Lists of strings in a heap, each a block: what users wrote is read when something matches only, and as strings it
 * would take twice the memory and the garbage collector's time. Takes any UTF-16.
 */
export class PackedStrings {
  readonly #heap: IntHeap;

  constructor(heap: IntHeap) {
    this.#heap = heap;
  }

  /** The address of the list. Each string is packed behind its length, in two units. */
  add(strings: readonly string[]): number {
    let packed = '';
    for (const text of strings) packed += String.fromCharCode(text.length >>> 16, text.length & 0xffff) + text;
    const isWide = !isNarrow(packed);
    const heap = this.#heap;
    const address = heap.allocate(sizeOf(packed.length, isWide));
    heap.set(address, isWide ? packed.length | IS_WIDE : packed.length);
    const inEach = isWide ? 2 : 4;
    for (let at = 0; at < packed.length; at += inEach) {
      let integer = 0;
      for (let unit = at; unit < at + inEach && unit < packed.length; unit++) {
        integer |= packed.charCodeAt(unit) << ((unit - at) * (32 / inEach));
      }
      heap.set(address + 1 + at / inEach, integer);
    }
    return address;
  }

  /** The string with the given number, counting from 0. It must be there. */
  get(address: number, number: number): string {
    let at = 0;
    for (let before = 0; before < number; before++) at += 2 + this.#lengthAt(address, at);
    return this.#slice(address, at + 2, at + 2 + this.#lengthAt(address, at));
  }

  all(address: number): string[] {
    const strings: string[] = [];
    const length = this.#heap.get(address) & ~IS_WIDE;
    for (let at = 0; at < length; at += 2 + this.#lengthAt(address, at)) {
      strings.push(this.#slice(address, at + 2, at + 2 + this.#lengthAt(address, at)));
    }
    return strings;
  }

  remove(address: number): void {
    const meta = this.#heap.get(address);
    this.#heap.free(address, sizeOf(meta & ~IS_WIDE, (meta & IS_WIDE) !== 0));
  }

  #lengthAt(address: number, at: number): number {
    return (this.#unit(address, at) << 16) | this.#unit(address, at + 1);
  }

  #slice(address: number, from: number, to: number): string {
    let text = '';
    for (let at = from; at < to; at++) text += String.fromCharCode(this.#unit(address, at));
    return text;
  }

  #unit(address: number, at: number): number {
    const heap = this.#heap;
    if ((heap.get(address) & IS_WIDE) !== 0) return (heap.get(address + 1 + (at >>> 1)) >>> (16 * (at & 1))) & 0xffff;
    return (heap.get(address + 1 + (at >>> 2)) >>> (8 * (at & 3))) & 0xff;
  }
}

function sizeOf(length: number, isWide: boolean): number {
  return Math.ceil((1 + Math.ceil(length / (isWide ? 2 : 4))) / STEP) * STEP;
}

function isNarrow(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return false;
  return true;
}
