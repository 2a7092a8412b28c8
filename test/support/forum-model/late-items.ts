/** Runs releases in the order of their times, to the second. */
export class LateItems {
  private readonly seconds = new Map<number, (() => void)[]>();
  private nextSecond = 0;

  add(atMs: number, release: () => void): void {
    const second = Math.max(this.nextSecond, Math.ceil(atMs / 1000));
    const waiting = this.seconds.get(second);
    if (waiting) waiting.push(release);
    else this.seconds.set(second, [release]);
  }

  /** Runs all that are due. */
  releaseUntil(atMs: number): void {
    for (; this.nextSecond * 1000 <= atMs; this.nextSecond += 1) {
      for (const release of this.seconds.get(this.nextSecond) ?? []) release();
      this.seconds.delete(this.nextSecond);
    }
  }
}
