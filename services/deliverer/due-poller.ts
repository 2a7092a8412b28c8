import { delay } from '../../shared/runtime/clock.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { DeliveryTarget, QueuePage } from '../../shared/stores/deliveries/delivery-queue.ts';

export interface DuePollerDeps {
  /** Reads the next monitors with pending matches after the id `after`, and which of them have due ones. */
  read: (after: string) => Promise<QueuePage>;
  onDue: (target: DeliveryTarget) => void;
  onError: (error: unknown) => void;
  /** Milliseconds; never goes back. */
  monotonic: Clock;
  /** Default: delay. */
  pause?: typeof delay;
}

/**
 * New matches arrive as hints and become due for the poller 3 s after they are recorded, so this interval is not part
 * of their latency.
 */
const EVERY_MS = 1_000;
/**
 * A walk also steps over each row that was delivered while a snapshot of the database is open, a dump's for instance:
 * after 120,000 of them it takes 0.1 s. Resting ten times as long, the poller burdens PostgreSQL by a tenth of a core.
 */
const RESTS = 10;
/** A retry that is due waits no longer, however many monitors have pending matches. */
const LONGEST_MS = 5_000;

/**
 * Walks over all monitors with pending matches, again and again. It finds retries that are due, matches whose hint was
 * dropped, and matches whose lease ended after a crash. The dispatcher then claims them.
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
  const { monotonic, pause = delay } = options;
  let after = '';
  let begun = monotonic();
  while (!signal.aborted) {
    try {
      const page = await options.read(after);
      for (const target of page.due) options.onDue(target);
      after = page.next ?? '';
      if (page.next !== null) continue;
    } catch (error) {
      options.onError(error);
      // A server that was away is asked again soon, however long it let this wait.
      begun = monotonic();
    }
    await pause(Math.min(LONGEST_MS, Math.max(EVERY_MS, RESTS * (monotonic() - begun))), signal);
    begun = monotonic();
  }
}
