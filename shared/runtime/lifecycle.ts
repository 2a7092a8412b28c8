import { memoryUsage } from 'node:process';
import { delay } from './clock.ts';
import type { Logger } from './logger.ts';

export interface Running {
  stop(): Promise<void>;
}

/** Stops the parts of a process in the reverse order of their start, each within a deadline. A failure is logged. */
export class Lifecycle {
  private readonly parts: { name: string; part: Running; timeoutMs: number }[] = [];
  private readonly logger: Logger;
  private readonly stopTimeoutMs: number;
  private stopping: Promise<boolean> | undefined;

  constructor(logger: Logger, stopTimeoutMs = 10_000) {
    this.logger = logger;
    this.stopTimeoutMs = stopTimeoutMs;
  }

  /** Registers a started part; returns it. @param timeoutMs how long its stop may take */
  add<T extends Running>(name: string, part: T, timeoutMs: number = this.stopTimeoutMs): T {
    this.parts.push({ name, part, timeoutMs });
    return part;
  }

  onStop(name: string, stop: () => Promise<void> | void): void {
    this.add(name, {
      async stop() {
        await stop();
      },
    });
  }

  /** Stops all parts, once. Resolves with true when every part stopped in time and without an error. */
  stop(): Promise<boolean> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<boolean> {
    let clean = true;
    for (const { name, part, timeoutMs } of this.parts.reverse()) {
      try {
        await withDeadline(part.stop(), timeoutMs, `${name} did not stop within ${timeoutMs} ms`);
      } catch (error) {
        clean = false;
        this.logger.error({ err: error, part: name }, 'a part did not stop cleanly');
      }
    }
    return clean;
  }
}

/** Repeats work `ms` milliseconds after its end, until it is stopped. An error of the work is not handled. */
export function repeatEvery(ms: number, work: () => Promise<void>): Running {
  const stopping = new AbortController();
  const repeat = async () => {
    while (!stopping.signal.aborted) {
      await work();
      await delay(ms, stopping.signal);
    }
  };
  const running = repeat();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Rejects with `message` when `promise` takes longer than `ms`. The work behind the promise continues. */
export async function withDeadline<T>(promise: Promise<T>, ms: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(message));
    }, ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Collects all garbage, in up to 0.2 s, in a process with the argument COLLECTABLE. Call it after a start: V8 collects
 * when a process allocates, so an idle one would keep what only its start needed.
 *
 * @param most a larger heap, in bytes, is left as it is: collecting it would take longer
 */
export function releaseMemory(most = Infinity): void {
  if (memoryUsage().heapUsed <= most) globalThis.gc?.({ type: 'major', flavor: 'last-resort' });
}

/** The argument of Node that makes `releaseMemory` work. */
export const COLLECTABLE = '--expose-gc';
