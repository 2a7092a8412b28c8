/** A growing list of 32-bit integers that keeps its memory when it is cleared. */
export class IntList {
  length = 0;
  /** Valid up to `length`. Growth replaces the array. */
  items: Int32Array = new Int32Array(16);

  push(value: number): void {
    if (this.length === this.items.length) this.reserve(this.length + 1);
    this.items[this.length++] = value;
  }

  extend(count: number): void {
    this.reserve(this.length + count);
    this.length += count;
  }

  /** Ensures capacity for `count` integers and keeps the current ones. */
  reserve(count: number): void {
    if (count <= this.items.length) return;
    const items = new Int32Array(Math.max(count, this.items.length * 2));
    items.set(this.items.subarray(0, this.length));
    this.items = items;
  }

  clear(): void {
    this.length = 0;
  }
}

const PAGE_BITS = 15;
const PAGE = 1 << PAGE_BITS;
/** Masks an address to its offset within the page. */
export const PAGE_MASK = PAGE - 1;
const FIRST_PAGE = 256;
/**
 * Once there are this many pages, further ones are cut from slabs of 8 MB: memory in one piece can be backed by huge
 * pages (`glibc.malloc.hugetlb`), which matching, as it reads here and there, gains most by.
 */
const PAGES_PER_SLAB = 64;
const NO_PAGE = new Int32Array(0);

/**
 * Memory for small records of 32-bit integers, in pages of 128 KB. A record is a block of consecutive addresses. No
 * block has address 0. A freed block is reused for the next block of the same size. The heap grows by pages, so growth
 * copies no data, and the garbage collector has no objects to follow.
 *
 * Heaps may share one address space, each with its own pages: each heap can read the blocks of the other, and records
 * that are often read together are near each other in memory.
 */
export class IntHeap {
  readonly #pages: Int32Array[];
  readonly #slab: Slab;
  /** The first free block of each size. The first integer of a free block is the address of the next one. */
  readonly #free = new Map<number, number>();
  /** The address of the next block, in the page that is being filled, and the end of that page. */
  #end: number;
  #limit: number;

  constructor(sharing?: IntHeap) {
    this.#pages = sharing === undefined ? [] : sharing.#pages;
    this.#slab = sharing === undefined ? new Slab() : sharing.#slab;
    this.#end = this.#pages.length * PAGE;
    this.#limit = this.#end + PAGE;
    // An index may have only one rule, so the first page starts small.
    this.#pages.push(new Int32Array(FIRST_PAGE));
    if (this.#end === 0) this.#end = 1;
  }

  /** The bytes of all pages, including those of the heaps that share its address space. */
  get bytes(): number {
    return this.#pages.reduce((sum, page) => sum + page.byteLength, 0);
  }

  get(address: number): number {
    return this.#pages[address >>> PAGE_BITS]?.[address & PAGE_MASK] ?? 0;
  }

  set(address: number, value: number): void {
    const page = this.#pages[address >>> PAGE_BITS];
    if (page !== undefined) page[address & PAGE_MASK] = value;
  }

  /** For reading a block of at most a page, from `address & PAGE_MASK` on. */
  pageOf(address: number): Int32Array {
    return this.#pages[address >>> PAGE_BITS] ?? NO_PAGE;
  }

  /** Returns a block of `size` integers, all 0. It is within one page unless it is larger than a page. */
  allocate(size: number): number {
    const free = this.#free.get(size) ?? 0;
    if (free !== 0) {
      this.#free.set(size, this.get(free));
      for (let offset = 0; offset < size; offset++) this.set(free + offset, 0);
      return free;
    }
    if (this.#end + size > this.#limit) this.#addPages(Math.ceil(size / PAGE));
    const address = this.#end;
    this.#end += size;
    this.#growLastPage();
    return address;
  }

  /** Frees a block, which must not be used afterwards. */
  free(address: number, size: number): void {
    this.set(address, this.#free.get(size) ?? 0);
    this.#free.set(size, address);
  }

  #addPages(count: number): void {
    this.#end = this.#pages.length * PAGE;
    for (let added = 0; added < count; added++) this.#pages.push(this.#newPage());
    this.#limit = this.#pages.length * PAGE;
  }

  #newPage(): Int32Array {
    return this.#pages.length < PAGES_PER_SLAB ? new Int32Array(PAGE) : this.#slab.take();
  }

  #growLastPage(): void {
    const index = (this.#limit >>> PAGE_BITS) - 1;
    const page = this.#pages[index] ?? NO_PAGE;
    const needed = this.#end - index * PAGE;
    if (needed <= page.length) return;
    let { length } = page;
    while (length < needed) length *= 2;
    const longer = new Int32Array(length);
    longer.set(page);
    this.#pages[index] = longer;
  }
}

/** Memory for some pages, of which those not taken yet were never touched. */
class Slab {
  #memory = new ArrayBuffer(0);
  #taken = 0;

  take(): Int32Array {
    if (this.#taken === this.#memory.byteLength) {
      this.#memory = new ArrayBuffer(PAGES_PER_SLAB * PAGE * Int32Array.BYTES_PER_ELEMENT);
      this.#taken = 0;
    }
    const page = new Int32Array(this.#memory, this.#taken, PAGE);
    this.#taken += page.byteLength;
    return page;
  }
}
