/** Beyond this many failing monitors the one that has failed for the longest is forgotten: it is told of again. */
const MOST_MONITORS = 10_000;

export type Phase = 'works' | 'begins to fail' | 'fails' | 'works again';

/**
 * Tells when a monitor's webhook begins to fail and when it works again, as seen by this process, so that a dead
 * endpoint is one warning and not one for each attempt.
 */
export class FailurePhases {
  private readonly failing = new Set<string>();

  /** Notes the outcome of an attempt; returns the phase that the monitor's webhook is in now. */
  note(monitorId: string, isFailed: boolean): Phase {
    if (!isFailed) return this.failing.delete(monitorId) ? 'works again' : 'works';
    if (this.failing.has(monitorId)) return 'fails';
    if (this.failing.size >= MOST_MONITORS) {
      const [oldest] = this.failing;
      if (oldest !== undefined) this.failing.delete(oldest);
    }
    this.failing.add(monitorId);
    return 'begins to fail';
  }
}
