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
