/**
 * Hashes strings so that nobody can prepare collisions: HalfSipHash-1-3 (Aumasson, Bernstein 2012; the 32-bit form)
 * over the UTF-16 code units, two to a word. Keys of the reading routes contain text that users choose; with an unkeyed
 * hash a user could create keys that count for each other. Same seeds, same hashes.
 */
export class KeyedHash {
  /** The two halves of the last hash: two independent numbers of 32 bits (signed). */
  low = 0;
  high = 0;
  private readonly seed0: number;
  private readonly seed1: number;

  /** @param random returns numbers in [0, 1), like Math.random */
  constructor(random: () => number) {
    this.seed0 = Math.floor(random() * 2 ** 32) | 0;
    this.seed1 = Math.floor(random() * 2 ** 32) | 0;
  }

  /**
   * Sets `low` and `high`, in time linear in the length of the key. Fields instead of an object, because this runs on
   * every access.
   */
  update(key: string): void {
    let v0 = this.seed0;
    let v1 = this.seed1 ^ 0xee;
    let v2 = 0x6c796765 ^ this.seed0;
    let v3 = 0x74656462 ^ this.seed1;
    const length = key.length;
    // One round a word. The last word has the last odd code unit and the length.
    const words = (length >>> 1) + 1;
    for (let i = 0; i < words + 3; i += 1) {
      let word = 0;
      if (i < words - 1) word = key.charCodeAt(2 * i) | (key.charCodeAt(2 * i + 1) << 16);
      else if (i === words - 1) word = (length << 16) | (length & 1 ? key.charCodeAt(length - 1) : 0);
      else if (i === words) v2 ^= 0xee;
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    this.low = v1 ^ v3;
    // The second half: one more finalisation, as in the 64-bit output of HalfSipHash.
    v1 ^= 0xdd;
    for (let i = 0; i < 3; i += 1) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    this.high = v1 ^ v3;
  }
}
