import { delay } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { DeliveryTarget, QueuePage } from '../../shared/stores/deliveries/delivery-queue.ts';

export interface DuePollerDeps {
  /** Monitors behind `after` that have pending matches, and which of them have due ones. */
  read: (after: string) => Promise<QueuePage>;
  onDue: (target: DeliveryTarget) => void;
  onError: (error: unknown) => void;
  /** Between the end of one walk and the begin of the next. */
  everyMs?: number;
}

/**
 * New matches come by hint and are due to the poller 3 s after their recording, so this is no part of their latency.
 */
const EVERY_MS = 1_000;

/**
 * Walks over all monitors with pending matches, again and again: it finds retries, lost hints and what a crash left.
 */
export function startDuePoller(options: DuePollerDeps): Running {
  const stopping = new AbortController();
  const walking = walk(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await walking;
    },
  };
}

async function walk(options: DuePollerDeps, signal: AbortSignal): Promise<void> {
  let after = '';
  while (!signal.aborted) {
    try {
      const page = await options.read(after);
      for (const target of page.due) options.onDue(target);
      after = page.next ?? '';
      if (page.next !== null) continue;
    } catch (error) {
      options.onError(error);
    }
    await delay(options.everyMs ?? EVERY_MS, signal);
  }
}
