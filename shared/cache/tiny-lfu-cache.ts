import type { Entry } from './entry-queue.ts';
import { EntryQueue } from './entry-queue.ts';
import { FrequencySketch } from './frequency-sketch.ts';
import { KeyedHash } from './keyed-hash.ts';

/** Part of the bytes for new entries, which then compete with the main part. */
const WINDOW_SHARE = 0.01;
/** Part of the main part for entries that were used again after their admission. */
const PROTECTED_SHARE = 0.8;
/**
 * An attacker who raised the estimate of the next victim could keep everybody else out. So a candidate that is warm
 * itself is admitted at random, once in 128 times (both numbers as in Caffeine).
 */
const WARM_FREQUENCY = 6;
const WARM_CHANCE = 1 / 128;

export interface TinyLfuCacheOptions {
  /** Limit for the sum of the entries' bytes. */
  maxBytes: number;
  /** Returns numbers in [0, 1): seeds the hash and admits warm candidates. */
  random?: () => number;
  /** Called with the sum of the entries' bytes after each `set`, and after each `prune` that removed some. */
  onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * W-TinyLFU (Einziger, Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission Policy", 2017, in the form of
 * Caffeine), bounded by bytes.
 *
 * New entries enter a small window (LRU, 1 %). An entry that leaves it is a candidate for the main part. While there is
 * no room, it is compared with the next victim, and the entry that was requested more often recently stays. The main
 * part is a segmented LRU: on probation until used again, then protected (80 %), then on probation again. So a scan of
 * keys that nobody requests twice passes through the window and does not affect the main part.
 *
 * `get` counts as a request for the key, found or not; `set` does not. Amortised O(1) per operation, apart from the
 * key's length. There are no timers and no expiry: callers decide what a value's age means, and what `prune` removes.
 */
export class TinyLfuCache<V> {
  private readonly maxBytes: number;
  private readonly windowBytes: number;
  private readonly protectedBytes: number;
  private readonly random: () => number;
  private readonly onBytes: ((bytes: number) => void) | undefined;
  private readonly entries = new Map<string, Entry<V>>();
  private readonly window = new EntryQueue<V>();
  private readonly probation = new EntryQueue<V>();
  private readonly protected = new EntryQueue<V>();
  private readonly sketch = new FrequencySketch();
  private readonly hash: KeyedHash;
  /** Where `prune` goes on. */
  private hand: MapIterator<Entry<V>> | undefined;

  constructor(options: TinyLfuCacheOptions) {
    const { maxBytes, random = Math.random, onBytes } = options;
    if (!(maxBytes >= 0) || !Number.isFinite(maxBytes))
      throw new RangeError('maxBytes must be a finite number of at least 0');
    this.maxBytes = maxBytes;
    this.windowBytes = Math.floor(maxBytes * WINDOW_SHARE);
    this.protectedBytes = Math.floor((maxBytes - this.windowBytes) * PROTECTED_SHARE);
    this.random = random;
    this.onBytes = onBytes;
    this.hash = new KeyedHash(random);
  }

  /** Sum of the bytes of all entries, at most `maxBytes`. */
  get bytes(): number {
    return this.window.bytes + this.probation.bytes + this.protected.bytes;
  }

  /** Number of entries. */
  get size(): number {
    return this.entries.size;
  }

  /** The value that was set last for this key; undefined when there is none or it was evicted. */
  get(key: string): V | undefined {
    this.hash.update(key);
    this.sketch.increment(this.hash.low, this.hash.high);
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.use(entry);
    return entry.value;
  }

  /**
   * Stores a value, or not, as the policy decides. The value stored for the key before is removed in any case. An entry
   * larger than the cache is rejected.
   *
   * @param bytes size of the entry; more than 0
   * @throws RangeError when bytes is not a positive number: nothing would bound entries without a size
   */
  set(key: string, value: V, bytes: number): void {
    if (!(bytes > 0)) throw new RangeError('bytes must be a number above 0');
    // Sums of whole numbers are exact, however often entries come and go.
    const whole = Math.ceil(bytes);
    const known = this.entries.get(key);
    if (whole > this.maxBytes) {
      if (known) this.evict(known);
      return;
    }
    if (known) {
      this.replace(known, value, whole);
    } else {
      const entry: Entry<V> = { key, value, bytes: whole, queue: this.window, newer: undefined, older: undefined };
      this.entries.set(key, entry);
      this.sketch.ensureCapacity(this.entries.size);
      // An entry larger than the window would evict all others there.
      if (whole > this.windowBytes) this.putOnProbation(entry);
      else this.window.push(entry);
    }
    this.shrinkWindow();
    this.shrinkProtected();
    this.makeRoom();
    this.onBytes?.(this.bytes);
  }

  delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry) this.evict(entry);
  }

  /**
   * Removes the useless ones among the next `count` entries. Each call goes on where the last one ended, from the
   * oldest key to the newest and then from the oldest again, so n entries take n / `count` calls.
   */
  prune(isUseless: (value: V) => boolean, count: number): void {
    const before = this.bytes;
    for (let looked = 0; looked < count; looked++) {
      this.hand ??= this.entries.values();
      const next = this.hand.next();
      if (next.done === true) {
        this.hand = undefined;
        break;
      }
      if (isUseless(next.value.value)) this.evict(next.value);
    }
    if (this.bytes !== before) this.onBytes?.(this.bytes);
  }

  /** Marks an entry as used. An entry on probation becomes protected. */
  private use(entry: Entry<V>): void {
    const from = entry.queue;
    from.remove(entry);
    const fits = entry.bytes <= this.protectedBytes;
    const to = from === this.probation && fits ? this.protected : from;
    to.push(entry);
    if (to !== from) this.shrinkProtected();
  }

  private replace(entry: Entry<V>, value: V, bytes: number): void {
    const from = entry.queue;
    from.remove(entry);
    entry.value = value;
    entry.bytes = bytes;
    // An entry that outgrows its part would evict all others there.
    const hasOutgrown = (part: EntryQueue<V>, partBytes: number) => from === part && bytes > partBytes;
    const moves = hasOutgrown(this.window, this.windowBytes) || hasOutgrown(this.protected, this.protectedBytes);
    (moves ? this.probation : from).push(entry);
  }

  private shrinkProtected(): void {
    while (this.protected.bytes > this.protectedBytes) {
      const demoted = this.protected.oldest!;
      this.protected.remove(demoted);
      this.probation.push(demoted);
    }
  }

  private shrinkWindow(): void {
    while (this.window.bytes > this.windowBytes) {
      const candidate = this.window.oldest!;
      this.window.remove(candidate);
      this.putOnProbation(candidate);
    }
  }

  /** Admits a candidate, which is in no queue, if there is room or while it wins against the next victims. */
  private putOnProbation(candidate: Entry<V>): void {
    this.probation.push(candidate);
    while (this.bytes > this.maxBytes) {
      const victim = this.nextVictim(candidate);
      if (victim && this.admits(candidate, victim)) {
        this.evict(victim);
      } else {
        this.evict(candidate);
        return;
      }
    }
  }

  /** Needed only for an entry that grew in place. Candidates are settled already. */
  private makeRoom(): void {
    while (this.bytes > this.maxBytes) this.evict(this.nextVictim()!);
  }

  /** The entry that was idle longest, in the order in which the parts give way. */
  private nextVictim(except?: Entry<V>): Entry<V> | undefined {
    const onProbation = this.probation.oldest === except ? except?.newer : this.probation.oldest;
    return onProbation ?? this.protected.oldest ?? this.window.oldest;
  }

  private admits(candidate: Entry<V>, victim: Entry<V>): boolean {
    const candidateFrequency = this.frequency(candidate.key);
    if (candidateFrequency > this.frequency(victim.key)) return true;
    return candidateFrequency >= WARM_FREQUENCY && this.random() < WARM_CHANCE;
  }

  private frequency(key: string): number {
    this.hash.update(key);
    return this.sketch.frequency(this.hash.low, this.hash.high);
  }

  private evict(entry: Entry<V>): void {
    entry.queue.remove(entry);
    this.entries.delete(entry.key);
  }
}
