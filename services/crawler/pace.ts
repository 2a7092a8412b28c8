/** However little is left of a window, a source looks this often. */
const MOST_INTERVAL_MS = 30_000;

/**
 * Shares the calls that the forum allows among the sources of this process. Each source says how often it would like to
 * call; when all together would outrun what the budget can keep up, every interval is stretched by the same factor.
 */
export class Pace {
  private readonly perSecond: () => number;
  private readonly wanted = new Map<string, number>();

  /** `perSecond`: calls a second that can be kept up; Infinity while nothing is known. */
  constructor(perSecond: () => number) {
    this.perSecond = perSecond;
  }

  /**
   * Milliseconds that `source` should leave between two calls. While nothing may be called at all nothing is stretched:
   * the refusal itself says when to come back.
   */
  intervalMs(source: string, wantedMs: number): number {
    this.wanted.set(source, 1000 / wantedMs);
    const total = [...this.wanted.values()].reduce((sum, rate) => sum + rate, 0);
    const affordable = this.perSecond();
    if (affordable <= 0 || affordable >= total) return wantedMs;
    return Math.min(MOST_INTERVAL_MS, (wantedMs * total) / affordable);
  }

  /** A source that ended wants nothing any more. */
  forget(source: string): void {
    this.wanted.delete(source);
  }
}
