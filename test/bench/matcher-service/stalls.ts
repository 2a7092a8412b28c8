import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

export interface Stalls {
  /** The longest time without a run of any timer of the process, in milliseconds. */
  longestMs: number;
  /** The same without pauses for garbage collection. */
  longestWithoutGcMs: number;
  /**
   * The maximum processor time of the event loop's thread between two runs of a timer: about what remains on an idle
   * machine, as exact as the system's accounting (4 ms on Linux).
   */
  longestCpuMs: number;
  longestGcMs: number;
  over10Ms: number;
  /** The total processor time of the event loop's thread. */
  cpuMs: number;
}

interface Span {
  begin: number;
  end: number;
}

const EVERY_MS = 1;

/** Observes the event loop from within, with a timer that is always due. */
export class StallProbe {
  private stalls: Span[] = [];
  private collections: Span[] = [];
  private longestCpuMs = 0;
  private cpuMs = 0;
  private lastAt = performance.now();
  private lastCpu = process.threadCpuUsage();
  private readonly observer = new PerformanceObserver((list) => this.keep(list.getEntries()));

  constructor() {
    this.observer.observe({ entryTypes: ['gc'] });
    setInterval(() => this.tick(), EVERY_MS);
  }

  /** The measurements since the last call. */
  async take(): Promise<Stalls> {
    this.tick();
    // The observer is notified of collections in a later turn of the event loop.
    await setImmediate();
    this.keep(this.observer.takeRecords());
    const { stalls, collections, longestCpuMs, cpuMs } = this;
    this.stalls = [];
    this.collections = [];
    this.longestCpuMs = this.cpuMs = 0;
    const withoutGc = stalls.map((stall) => collections.reduce((ms, gc) => ms - overlap(stall, gc), lengthOf(stall)));
    return {
      longestMs: longest(stalls.map(lengthOf)),
      longestWithoutGcMs: longest(withoutGc),
      longestCpuMs: longest([longestCpuMs]),
      longestGcMs: longest(collections.map(lengthOf)),
      over10Ms: stalls.filter((stall) => lengthOf(stall) > 10).length,
      cpuMs: Math.round(cpuMs),
    };
  }

  private tick(): void {
    const now = performance.now();
    const cpu = process.threadCpuUsage();
    const usedMs = (cpu.user + cpu.system - this.lastCpu.user - this.lastCpu.system) / 1000;
    this.cpuMs += usedMs;
    this.longestCpuMs = Math.max(this.longestCpuMs, usedMs);
    if (now - this.lastAt > 2 * EVERY_MS) this.stalls.push({ begin: this.lastAt + EVERY_MS, end: now });
    this.lastAt = now;
    this.lastCpu = cpu;
  }

  private keep(entries: { startTime: number; duration: number }[]): void {
    for (const { startTime, duration } of entries) {
      this.collections.push({ begin: startTime, end: startTime + duration });
    }
  }
}

function lengthOf({ begin, end }: Span): number {
  return end - begin;
}

function overlap(one: Span, other: Span): number {
  return Math.max(0, Math.min(one.end, other.end) - Math.max(one.begin, other.begin));
}

function longest(lengthsMs: readonly number[]): number {
  return Number(Math.max(0, ...lengthsMs).toFixed(1));
}
