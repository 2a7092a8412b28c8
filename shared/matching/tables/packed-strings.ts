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
    const length = strings.reduce((sum, text) => sum + 2 + text.length, 0);
    const isWide = !strings.every(isNarrow);
    const address = this.#heap.allocate(sizeOf(length, isWide));
    this.#heap.set(address, isWide ? length | IS_WIDE : length);
    this.#write(address + 1, strings, isWide ? 16 : 8);
    return address;
  }

  /** Writes the strings unit by unit: to join them into one string first would only make garbage. */
  #write(address: number, strings: readonly string[], bits: number): void {
    let integer = 0;
    let shift = 0;
    for (const text of strings) {
      for (let offset = -2; offset < text.length; offset++) {
        integer |= unitAt(text, offset) << shift;
        shift += bits;
        if (shift < 32) continue;
        this.#heap.set(address++, integer);
        integer = 0;
        shift = 0;
      }
    }
    if (shift > 0) this.#heap.set(address, integer);
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

/** A unit of the text, or one of the two before it, which are its length. */
function unitAt(text: string, offset: number): number {
  if (offset >= 0) return text.charCodeAt(offset);
  return offset === -2 ? text.length >>> 16 : text.length & 0xffff;
}

/** Whether the text and its length fit in units of one byte. */
function isNarrow(text: string): boolean {
  let all = text.length;
  for (let offset = 0; offset < text.length; offset++) all |= text.charCodeAt(offset);
  return all < 0x100;
}
