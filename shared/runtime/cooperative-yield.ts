import { setImmediate } from 'node:timers/promises';

/**
 * Half of what a stall of the event loop may last: the piece of work in hand, or a collection of garbage, comes on top.
 */
const SLICE_MS = 5;

/**
 * Cuts long computations, so that heartbeats, timers and the network get through. All computations of a process part
 * that may run at the same time share one object: then they take turns, and the event loop goes round between any two
 * slices of them.
 */
export class CooperativeYield {
  private readonly sliceMs: number;
  private sliceEnds = 0;
  private turns: Promise<void> = Promise.resolve();

  constructor(sliceMs = SLICE_MS) {
    this.sliceMs = sliceMs;
  }

  /**
   * To be awaited between two pieces of work: resolves at once while the slice lasts, else with a new slice, after the
   * event loop and everybody who asked before.
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
