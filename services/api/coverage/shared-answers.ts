import { SingleFlight } from '../../../shared/cache/single-flight.ts';

/** An answer about 31 days has 0.7 MB. */
const MAX_KEPT = 16;

/** The bytes of answers that do not depend on who asks, shared by all who ask the same while they are fresh. */
export class SharedAnswers {
  private readonly freshMs: number;
  private readonly flights = new SingleFlight<Uint8Array>();
  private readonly kept = new Map<string, { bytes: Uint8Array; madeAt: number }>();

  constructor(freshMs: number) {
    this.freshMs = freshMs;
  }

  /**
   * Returns the JSON of the answer; `make` makes it if it is not kept or not fresh. A failure is not kept.
   *
   * @param make its signal aborts when all who wait for the answer have left
   * @param gone aborts when this caller leaves
   */
  async get(key: string, make: (abandoned: AbortSignal) => Promise<object>, gone?: AbortSignal): Promise<Uint8Array> {
    const known = this.kept.get(key);
    if (known === undefined || performance.now() - known.madeAt >= this.freshMs) {
      return this.flights.run(key, async (abandoned) => this.keep(key, await make(abandoned)), gone);
    }
    this.kept.delete(key);
    this.kept.set(key, known);
    return known.bytes;
  }

  private keep(key: string, answer: object): Uint8Array {
    const bytes = Buffer.from(JSON.stringify(answer));
    this.kept.delete(key);
    this.kept.set(key, { bytes, madeAt: performance.now() });
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return bytes;
  }
}
