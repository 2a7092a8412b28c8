/** Live candidates count as traffic for so long. */
const RECENT_MS = 2_000;

/** Whether this process records live matches now, so that its backfills leave room for them. */
export class LiveLoad {
  private lastAt = Number.NEGATIVE_INFINITY;

  /** Call this for each batch of live candidates. */
  noteBatch(): void {
    this.lastAt = performance.now();
  }

  isPresent(): boolean {
    return performance.now() - this.lastAt < RECENT_MS;
  }
}
