import type { IntHeap } from './int-heap.ts';

/**
 * A block holds its length in code units and this flag, then the units: one byte each if all are below 256, else two.
 */
const IS_WIDE = 1 << 30;
/** Block sizes are multiples of this many integers, so that a freed block fits the next list of about its size. */
const STEP = 8;

/**
 * Lists of strings in a heap, one block a list. The original spelling of terms is read only when something matches, and
 * as string objects it would take twice the memory and cost the garbage collector time. Accepts any UTF-16.
 */
export class PackedStrings {
  readonly #heap: IntHeap;

  constructor(heap: IntHeap) {
    this.#heap = heap;
  }

  /** Returns the address of the list. Each string is packed after its length, which takes two units. */
  add(strings: readonly string[]): number {
    let packed = '';
    for (const text of strings) packed += String.fromCharCode(text.length >>> 16, text.length & 0xffff) + text;
    const isWide = !isNarrow(packed);
    const heap = this.#heap;
    const address = heap.allocate(sizeOf(packed.length, isWide));
    heap.set(address, isWide ? packed.length | IS_WIDE : packed.length);
    const unitsPerInteger = isWide ? 2 : 4;
    for (let start = 0; start < packed.length; start += unitsPerInteger) {
      let integer = 0;
      for (let offset = start; offset < start + unitsPerInteger && offset < packed.length; offset++) {
        integer |= packed.charCodeAt(offset) << ((offset - start) * (32 / unitsPerInteger));
      }
      heap.set(address + 1 + start / unitsPerInteger, integer);
    }
    return address;
  }

  /** The string with this number, counting from 0. It must exist. */
  get(address: number, number: number): string {
    let offset = 0;
    for (let skipped = 0; skipped < number; skipped++) offset += 2 + this.#lengthAt(address, offset);
    return this.#slice(address, offset + 2, offset + 2 + this.#lengthAt(address, offset));
  }

  all(address: number): string[] {
    const strings: string[] = [];
    const length = this.#heap.get(address) & ~IS_WIDE;
    for (let offset = 0; offset < length; offset += 2 + this.#lengthAt(address, offset)) {
      strings.push(this.#slice(address, offset + 2, offset + 2 + this.#lengthAt(address, offset)));
    }
    return strings;
  }

  remove(address: number): void {
    const meta = this.#heap.get(address);
    this.#heap.free(address, sizeOf(meta & ~IS_WIDE, (meta & IS_WIDE) !== 0));
  }

  #lengthAt(address: number, offset: number): number {
    return (this.#unit(address, offset) << 16) | this.#unit(address, offset + 1);
  }

  #slice(address: number, from: number, to: number): string {
    let text = '';
    for (let offset = from; offset < to; offset++) text += String.fromCharCode(this.#unit(address, offset));
    return text;
  }

  #unit(address: number, offset: number): number {
    const heap = this.#heap;
    const isWide = (heap.get(address) & IS_WIDE) !== 0;
    if (isWide) return (heap.get(address + 1 + (offset >>> 1)) >>> (16 * (offset & 1))) & 0xffff;
    return (heap.get(address + 1 + (offset >>> 2)) >>> (8 * (offset & 3))) & 0xff;
  }
}

function sizeOf(length: number, isWide: boolean): number {
  return Math.ceil((1 + Math.ceil(length / (isWide ? 2 : 4))) / STEP) * STEP;
}

function isNarrow(text: string): boolean {
  for (let offset = 0; offset < text.length; offset++) if (text.charCodeAt(offset) > 0xff) return false;
  return true;
}
