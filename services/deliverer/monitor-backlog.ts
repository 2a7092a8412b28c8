import type { Responsiveness } from './attempt-permits.ts';

/**
 * What this process knows of one monitor's pending matches: hints, and whether matches are due in the database. One
 * loop at a time works on a backlog, so that the monitor's attempts start in match order. In memory only: after a crash
 * the poller finds the rows.
 */
export class MonitorBacklog {
  readonly monitorId: string;
  /** A permit that was handed to this monitor while it waited, as the responsiveness that the permit counts for. */
  permit: Responsiveness | undefined;
  /** The database has matches whose next attempt is due. They are claimed before hints, which are newer. */
  isDue = false;
  isRunning = false;
  /** Seqs of new matches, ascending, without duplicates. */
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

  /** Returns false for a seq that is already present. Hints arrive nearly in order, so the search starts at the end. */
  addHint(seq: number): boolean {
    let index = this.hints.length;
    while (index > 0 && this.hints[index - 1]! > seq) index--;
    if (this.hints[index - 1] === seq) return false;
    this.hints.splice(index, 0, seq);
    return true;
  }

  /** Removes and returns the first `count` hints. */
  takeHints(count: number): number[] {
    return this.hints.splice(0, count);
  }

  /** Removes hints of matches that were claimed as due; returns how many it removed. */
  dropHints(seqs: readonly number[]): number {
    const before = this.hints.length;
    if (before > 0) this.hints = this.hints.filter((seq) => !seqs.includes(seq));
    return before - this.hints.length;
  }
}
