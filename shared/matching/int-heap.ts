const PAGE_BITS = 15;
const PAGE = 1 << PAGE_BITS;
/** Masks an address to its place in the page. */
export const IN_PAGE = PAGE - 1;
const FIRST_PAGE = 256;
const NO_PAGE = new Int32Array(0);

/**
 * Memory for small records of 32-bit integers, in pages of 128 KB. A record is a block of consecutive addresses; address 0
 * is none. A freed block is given out again for the next one of its size. It grows a page at a time, so that no growth copies
 * what is there, and nothing of it is an object for the garbage collector to follow.
 */
export class IntHeap {
  readonly #pages: Int32Array[] = [new Int32Array(FIRST_PAGE)];
  /** By size, the first free block; the first integer of a free block is the address of the next. */
  readonly #free = new Map<number, number>();
  #end = 1;

  /** The bytes of all pages. */
  get bytes(): number {
    return (this.#pages.length - 1) * PAGE * 4 + (this.#pages[0]?.byteLength ?? 0);
  }

  get(address: number): number {
    return this.#pages[address >>> PAGE_BITS]?.[address & IN_PAGE] ?? 0;
  }

  set(address: number, value: number): void {
    const page = this.#pages[address >>> PAGE_BITS];
    if (page !== undefined) page[address & IN_PAGE] = value;
  }

  /** The page that holds the address, for reading a block's integers from `address & IN_PAGE` on, when it has no more than a page. */
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
    const left = PAGE - (this.#end & IN_PAGE);
    if (size > left && size <= PAGE) this.#end += left;
    const address = this.#end;
    this.#end += size;
    while (this.#end > this.#capacity()) this.#grow();
    return address;
  }

  /** Takes a block back. It must not be used afterwards. */
  free(address: number, size: number): void {
    this.set(address, this.#free.get(size) ?? 0);
    this.#free.set(size, address);
  }

  #capacity(): number {
    return this.#pages.length === 1 ? (this.#pages[0]?.length ?? 0) : this.#pages.length * PAGE;
  }

  /** The first page starts small, since an index may hold one rule only. */
  #grow(): void {
    const first = this.#pages[0];
    if (first !== undefined && first.length < PAGE) {
      this.#pages[0] = new Int32Array(first.length * 2);
      this.#pages[0].set(first);
    } else this.#pages.push(new Int32Array(PAGE));
  }
}
