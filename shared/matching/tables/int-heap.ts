const PAGE_BITS = 15;
const PAGE = 1 << PAGE_BITS;
/** Masks an address to its place in the page. */
export const IN_PAGE = PAGE - 1;
const FIRST_PAGE = 256;
const NO_PAGE = new Int32Array(0);

/**
 * Memory for small records of 32-bit integers, in pages of 128 KB. A record is a block of consecutive addresses;
 * address 0 is none. A freed block is given out again for the next one of its size. It grows a page at a time, so that
 * no growth copies what is there, and nothing of it is an object for the garbage collector to follow.
 *
 * Heaps may share their addresses, each with pages of its own: one reads what the other gave out, and what is often
 * read together lies together.
 */
export class IntHeap {
  readonly #pages: Int32Array[];
  /** By size, the first free block; the first integer of a free block is the address of the next. */
  readonly #free = new Map<number, number>();
  /** Where the next block begins, in the page that is being filled, and where that page ends. */
  #end: number;
  #limit: number;

  /** @param sharing a heap whose addresses this one is to share */
  constructor(sharing?: IntHeap) {
    this.#pages = sharing === undefined ? [] : sharing.#pages;
    this.#end = this.#pages.length * PAGE;
    this.#limit = this.#end + PAGE;
    // An index may hold one rule only, so the first page begins small.
    this.#pages.push(new Int32Array(FIRST_PAGE));
    if (this.#end === 0) this.#end = 1;
  }

  /** The bytes of all pages, with those of the heaps that share its addresses. */
  get bytes(): number {
    return this.#pages.reduce((sum, page) => sum + page.byteLength, 0);
  }

  get(address: number): number {
    return this.#pages[address >>> PAGE_BITS]?.[address & IN_PAGE] ?? 0;
  }

  set(address: number, value: number): void {
    const page = this.#pages[address >>> PAGE_BITS];
    if (page !== undefined) page[address & IN_PAGE] = value;
  }

  /**
   * The page that holds the address, for reading a block's integers from `address & IN_PAGE` on, when it has no more
   * than a page.
   */
  pageOf(address: number): Int32Array {
    return this.#pages[address >>> PAGE_BITS] ?? NO_PAGE;
  }

  /** A block of `size` integers, all 0. It lies in one page unless it is larger than that. */
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
    this.#growFirst();
    return address;
  }

  /** Takes a block back. It must not be used afterwards. */
  free(address: number, size: number): void {
    this.set(address, this.#free.get(size) ?? 0);
    this.#free.set(size, address);
  }

  #addPages(count: number): void {
    this.#end = this.#pages.length * PAGE;
    for (let added = 0; added < count; added++) this.#pages.push(new Int32Array(PAGE));
    this.#limit = this.#pages.length * PAGE;
  }

  /** Makes the page that is being filled as long as it has to be. */
  #growFirst(): void {
    const at = (this.#limit >>> PAGE_BITS) - 1;
    const page = this.#pages[at] ?? NO_PAGE;
    const needed = this.#end - at * PAGE;
    if (needed <= page.length) return;
    let { length } = page;
    while (length < needed) length *= 2;
    const longer = new Int32Array(length);
    longer.set(page);
    this.#pages[at] = longer;
  }
}
