/** A growing list of 32-bit integers that is emptied and filled again without new memory. */
export class IntList {
  length = 0;
  /** Valid up to `length`. Another array after each growth. */
  items: Int32Array = new Int32Array(16);

  push(value: number): void {
    if (this.length === this.items.length) this.reserve(this.length + 1);
    this.items[this.length++] = value;
  }

  /** Makes room for `count` integers; what is held stays. */
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
