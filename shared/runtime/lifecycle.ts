import type { Logger } from './logger.ts';

/** A part of a process that was started and can be stopped. */
export interface Running {
  stop(): Promise<void>;
}

/**
 * Parts of one process, stopped in the reverse order of their start, each within a deadline.
 * A part that fails to stop is logged and does not keep the others from stopping.
 */
export class Lifecycle {
  private readonly parts: { name: string; part: Running }[] = [];
  private readonly logger: Logger;
  private readonly stopTimeoutMs: number;
  private stopping: Promise<boolean> | undefined;

  constructor(logger: Logger, stopTimeoutMs = 10_000) {
    this.logger = logger;
    this.stopTimeoutMs = stopTimeoutMs;
  }

  /** Registers a started part; returns it. */
  add<T extends Running>(name: string, part: T): T {
    this.parts.push({ name, part });
    return part;
  }

  /** Registers something to be called at stop. */
  onStop(name: string, stop: () => Promise<void> | void): void {
    this.parts.push({
      name,
      part: {
        async stop() {
          await stop();
        },
      },
    });
  }

  /** Stops everything once; resolves to true when every part stopped in time and without an error. */
  stop(): Promise<boolean> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<boolean> {
    let clean = true;
    for (const { name, part } of this.parts.reverse()) {
      try {
        await withDeadline(part.stop(), this.stopTimeoutMs, `${name} did not stop within ${this.stopTimeoutMs} ms`);
      } catch (error) {
        clean = false;
        this.logger.error({ err: error, part: name }, 'a part did not stop cleanly');
      }
    }
    return clean;
  }
}

/** Rejects with `message` when `promise` takes longer than `ms`. The promise itself goes on. */
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
