import { setImmediate } from 'node:timers/promises';

/**
 * Half of the longest acceptable stall of the event loop: the current piece of work, or a garbage collection, adds to
 * it.
 */
const SLICE_MS = 5;

/**
 * Cuts long computations into slices, so that heartbeats, timers and the network are served in between. Computations
 * that may run at the same time share one object: they take turns, and the event loop runs between any two slices.
 */
export class CooperativeYield {
  private readonly sliceMs: number;
  private sliceEnds = 0;
  private turns: Promise<void> = Promise.resolve();

  constructor(sliceMs = SLICE_MS) {
    this.sliceMs = sliceMs;
  }

  /**
   * Await this between two pieces of work. It resolves at once while the slice lasts; otherwise it resolves with a new
   * slice, after a turn of the event loop and after all earlier callers.
   */
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
