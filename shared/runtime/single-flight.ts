import { performance } from 'node:perf_hooks';
import { rejectOnAbort } from './errors.ts';

interface Flight<V> {
  answer: Promise<V>;
  waiting: number;
  abort: AbortController;
}

/**
 * Callers with the same key share one running fetch and its result or failure; nothing is kept. A caller that aborts
 * leaves alone; when the last one leaves, the signal of the fetch aborts.
 */
export class SingleFlight<V> {
  private readonly flights = new Map<string, Flight<V>>();

  /**
   * @param fetch called unless one runs for this key; its signal aborts when no caller waits any more
   * @param signal the caller's own; aborting it rejects this call with the signal's reason
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
    // Called in this turn, so that nobody can start a second fetch. A fetch that throws synchronously becomes a
    // rejection.
    const answer = (async () => fetch(abort.signal))();
    const flight = { answer, waiting: 0, abort };
    this.flights.set(key, flight);
    // Also removed here: a caller that comes after the result, but before the other callers have taken it, must not get
    // an old one.
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

/**
 * Callers get the run under way, or its result for `freshMs` after it ended. A failure is not kept.
 *
 * @param clock monotonic, in milliseconds
 */
export function sharedResult<T>(
  work: () => Promise<T>,
  freshMs: number,
  clock: () => number = () => performance.now(),
): () => Promise<T> {
  let running: Promise<T> | undefined;
  let last: { result: T; endedAt: number } | undefined;
  const run = async (): Promise<T> => {
    try {
      // Deferred, so that work that throws synchronously does so after `running` is set.
      const result = await Promise.resolve().then(work);
      last = { result, endedAt: clock() };
      return result;
    } finally {
      running = undefined;
    }
  };
  return () => {
    if (last !== undefined && clock() - last.endedAt < freshMs) return Promise.resolve(last.result);
    running ??= run();
    return running;
  };
}
