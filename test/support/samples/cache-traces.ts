/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Access {
  key: string;
  bytes: number;
}

export interface TraceOptions {
  seed: number;
  accesses: number;
  /** The number of popular keys. */
  keys: number;
  /** The exponent s: the weight of the n-th most popular key is 1 / n^s. */
  s: number;
  /** The bytes of the n-th most popular key; by default the same for all. */
  bytesOf?: (n: number) => number;
}

/** Independent accesses with Zipf popularity. */
export function zipfTrace(options: TraceOptions): Access[] {
  const { seed, accesses, keys, s, bytesOf = () => 100 } = options;
  const random = seededRandom(seed);
  const cumulated = new Float64Array(keys);
  let sum = 0;
  for (let n = 0; n < keys; n += 1) cumulated[n] = sum += (n + 1) ** -s;
  return Array.from({ length: accesses }, () => {
    const n = firstAtLeast(cumulated, random() * sum);
    return { key: `post/${n}`, bytes: bytesOf(n) };
  });
}

/** The trace, interrupted regularly by scans over keys that are requested only once. */
export function withScans(trace: Access[], options: { every: number; length: number; bytes: number }): Access[] {
  let scanned = 0;
  return trace.flatMap((access, i) => {
    if (i % options.every !== options.every - 1) return [access];
    const scan = Array.from({ length: options.length }, () => ({ key: `scan/${scanned++}`, bytes: options.bytes }));
    return [access, ...scan];
  });
}

/** The interface of the compared caches. */
export interface ByteCache {
  get(key: string): unknown;
  set(key: string, value: number, bytes: number): void;
}

/** The share of hits among the counted accesses, if each miss is followed by a set. */
export function hitRatio(cache: ByteCache, trace: Access[], counts: (access: Access) => boolean = () => true): number {
  let hits = 0;
  let asked = 0;
  for (const access of trace) {
    const found = cache.get(access.key) !== undefined;
    if (!found) cache.set(access.key, 1, access.bytes);
    if (!counts(access)) continue;
    asked += 1;
    if (found) hits += 1;
  }
  return hits / asked;
}

/** The baseline: least recently used, with the same limit in bytes. */
export class PlainLru implements ByteCache {
  private readonly entries = new Map<string, number>();
  private readonly maxBytes: number;
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get(key: string): number | undefined {
    const bytes = this.entries.get(key);
    if (bytes === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, bytes);
    return bytes;
  }

  set(key: string, _value: number, bytes: number): void {
    this.bytes += bytes - (this.entries.get(key) ?? 0);
    this.entries.delete(key);
    this.entries.set(key, bytes);
    for (const [oldest, its] of this.entries) {
      if (this.bytes <= this.maxBytes) return;
      this.entries.delete(oldest);
      this.bytes -= its;
    }
  }
}

function firstAtLeast(sorted: Float64Array, target: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < target) low = middle + 1;
    else high = middle;
  }
  return low;
}
