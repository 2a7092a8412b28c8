import type { Lane } from './lanes.ts';

const HOUR_MS = 3_600_000;

/** The calls of a lane within an hour. */
export interface CountedCalls {
  /** The start of the hour. */
  hour: Date;
  lane: Lane;
  taken: number;
  /** How often a call was asked for and refused by the budget. */
  refused: number;
}

/** Counts the calls of this process by hour and lane, until they are drained. */
export class CallCounts {
  private readonly counts = new Map<string, CountedCalls>();

  /** `now` in milliseconds since 1970. */
  note(lane: Lane, outcome: 'taken' | 'refused', now: number): void {
    const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
    const key = `${hour} ${lane}`;
    let counted = this.counts.get(key);
    if (counted === undefined) {
      counted = { hour: new Date(hour), lane, taken: 0, refused: 0 };
      this.counts.set(key, counted);
    }
    counted[outcome] += 1;
  }

  /** Returns all counts and starts again at zero. */
  drain(): CountedCalls[] {
    const counted = [...this.counts.values()];
    this.counts.clear();
    return counted;
  }

  /** Adds drained counts again, because they could not be stored. */
  restore(calls: readonly CountedCalls[]): void {
    for (const call of calls) {
      const key = `${call.hour.getTime()} ${call.lane}`;
      const counted = this.counts.get(key);
      if (counted === undefined) this.counts.set(key, call);
      else {
        counted.taken += call.taken;
        counted.refused += call.refused;
      }
    }
  }
}
