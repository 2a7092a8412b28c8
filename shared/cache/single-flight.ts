import { rejectOnAbort } from '../runtime/abort.ts';

/** A fetch under way and those who wait for it. */
interface Flight<V> {
  answer: Promise<V>;
  waiting: number;
  abort: AbortController;
}

/**
 * Callers that ask for the same key at the same time share one fetch. Its result, or its failure, goes to all who wait,
 * and nothing is kept afterwards.
 *
 * A caller that gives up leaves alone: the others still get their answer. When the last one has left, the fetch is told
 * to stop through the signal it was given, and a new caller starts another one.
 */
export class SingleFlight<V> {
  private readonly flights = new Map<string, Flight<V>>();

  /**
   * @param fetch called unless a fetch for this key is under way; its signal aborts when nobody waits any more
   * @param signal the caller's own: aborting it rejects this call with the signal's reason
   */
  async run(key: string, fetch: (signal: AbortSignal) => Promise<V>, signal?: AbortSignal): Promise<V> {
    signal?.throwIfAborted();
    const flight = this.flights.get(key) ?? this.start(key, fetch);
    flight.waiting += 1;
    try {
      return await (signal ? rejectOnAbort(flight.answer, signal) : flight.answer);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) this.end(key, flight);
    }
  }

  private start(key: string, fetch: (signal: AbortSignal) => Promise<V>): Flight<V> {
    const abort = new AbortController();
    // Called within this turn, so that nobody can start a second one; a fetch that throws instead of rejecting is no
    // exception.
    const answer = (async () => fetch(abort.signal))();
    const flight = { answer, waiting: 0, abort };
    this.flights.set(key, flight);
    // Ends here, too: whoever asks after the answer, but before the callers have taken it, must not get an old one.
    const end = () => this.remove(key, flight);
    answer.then(end, end);
    return flight;
  }

  private end(key: string, flight: Flight<V>): void {
    if (this.flights.get(key) !== flight) return;
    this.remove(key, flight);
    flight.abort.abort();
  }

  private remove(key: string, flight: Flight<V>): void {
    if (this.flights.get(key) === flight) this.flights.delete(key);
  }
}
