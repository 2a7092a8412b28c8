import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

interface Span {
  begin: number;
  end: number;
}

/** Shorter calls are not stalls. Recording all calls would use memory that is being measured. */
const NOTED_MS = 1;

interface Call extends Span {
  /** Of its thread, in milliseconds; known to one or two of them. */
  processorMs: number;
}

/** Measures calls, and how much of the longest ones was their own work. */
export class StallClock {
  private readonly noted: Call[] = [];
  private readonly collections: Span[] = [];
  private readonly observer = new PerformanceObserver((list) => this.keep(list.getEntries()));
  private longestMs = 0;

  constructor() {
    this.observer.observe({ entryTypes: ['gc'] });
  }

  /** The microseconds that the call took. */
  timed(call: () => void): number {
    const usageBefore = process.threadCpuUsage();
    const begin = performance.now();
    call();
    const end = performance.now();
    const { user, system } = process.threadCpuUsage(usageBefore);
    this.longestMs = Math.max(this.longestMs, end - begin);
    if (end - begin >= NOTED_MS) this.noted.push({ begin, end, processorMs: (user + system) / 1000 });
    return (end - begin) * 1000;
  }

  /** `ownMs` excludes pauses for garbage collection and waits for the processor. */
  async stop(): Promise<{ longestMs: number; longestOwnMs: number; over10Ms: number }> {
    // The observer is notified of collections in a later turn of the event loop.
    await setImmediate();
    this.keep(this.observer.takeRecords());
    this.observer.disconnect();
    const ownMs = this.noted.map((call) => {
      const collecting = this.collections.reduce((sum, collection) => sum + overlap(call, collection), 0);
      return Math.min(call.end - call.begin - collecting, call.processorMs);
    });
    return {
      longestMs: this.longestMs,
      longestOwnMs: Math.max(Math.min(this.longestMs, NOTED_MS), ...ownMs),
      over10Ms: this.noted.filter(({ begin, end }) => end - begin > 10).length,
    };
  }

  private keep(entries: { startTime: number; duration: number }[]): void {
    for (const { startTime, duration } of entries) {
      this.collections.push({ begin: startTime, end: startTime + duration });
    }
  }
}

function overlap(one: Span, other: Span): number {
  return Math.max(0, Math.min(one.end, other.end) - Math.max(one.begin, other.begin));
}
