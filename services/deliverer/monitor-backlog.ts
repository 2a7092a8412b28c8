import type { Responsiveness } from './attempt-permits.ts';

/**
 * What is known to be waiting for one monitor. A lane is worked by one loop at a time, so that its attempts start in
 * match order.
 */
export class MonitorBacklog {
  readonly monitorId: string;
  /** A permit that was handed to this lane while it waited, by the standing that it counts for. */
  permit: Responsiveness | undefined;
  /** The database has matches whose next attempt is due; they go before hints, which are younger. */
  isDue = false;
  isRunning = false;
  /** Seqs of new matches, ascending, each once. */
  private hints: number[] = [];

  constructor(monitorId: string) {
    this.monitorId = monitorId;
  }

  get hintCount(): number {
    return this.hints.length;
  }

  get isIdle(): boolean {
    return !this.isDue && this.hints.length === 0;
  }

  /** Returns false for a seq that is there already. Hints come nearly in order: the search is from the end. */
  addHint(seq: number): boolean {
    let place = this.hints.length;
    while (place > 0 && this.hints[place - 1]! > seq) place--;
    if (this.hints[place - 1] === seq) return false;
    this.hints.splice(place, 0, seq);
    return true;
  }

  /** Removes and returns the first `count` hints. */
  takeHints(count: number): number[] {
    return this.hints.splice(0, count);
  }

  /** Forgets hints of matches that were claimed in another way; returns how many there were. */
  dropHints(seqs: readonly number[]): number {
    const before = this.hints.length;
    if (before > 0) this.hints = this.hints.filter((seq) => !seqs.includes(seq));
    return before - this.hints.length;
  }
}
