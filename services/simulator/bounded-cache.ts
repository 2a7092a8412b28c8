/** Drops the oldest entry when it is full. For immutable content that can be computed again. */
export class BoundedCache<T> {
  private readonly entries = new Map<number, T>();
  private readonly size: number;

  constructor(size: number) {
    this.size = size;
  }

  get(key: number): T | undefined {
    return this.entries.get(key);
  }

  set(key: number, value: T): void {
    if (this.entries.size >= this.size) this.entries.delete(this.entries.keys().next().value!);
    this.entries.set(key, value);
  }

  delete(key: number): void {
    this.entries.delete(key);
  }
}
