import { setImmediate } from 'node:timers/promises';

/** Half of the longest acceptable stall: the current piece of work, or a garbage collection, adds to it. */
const SLICE_MS = 5;

/** Cuts long computations into slices, between which the event loop runs. Those that share one object take turns. */
export class CooperativeYield {
  private readonly sliceMs: number;
  private sliceEnds = 0;
  private turns: Promise<void> = Promise.resolve();

  constructor(sliceMs = SLICE_MS) {
    this.sliceMs = sliceMs;
  }

  /** Resolves at once while the slice lasts; otherwise after a turn of the event loop and all earlier callers. */
  async pause(): Promise<void> {
    if (performance.now() < this.sliceEnds) return;
    this.turns = this.turns.then(() => this.turn());
    await this.turns;
  }

  private async turn(): Promise<void> {
    await setImmediate();
    this.sliceEnds = performance.now() + this.sliceMs;
  }
}
