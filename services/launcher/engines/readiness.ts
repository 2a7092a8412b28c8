import { delay } from '../../../shared/runtime/clock.ts';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { logTail } from './owned-process.ts';
import type { OwnedProcess } from './owned-process.ts';
import { StartFault } from './engine.ts';

/** A probe: resolves when the address answers. */
export async function answers(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  await answer.text();
}

export interface ReadinessOptions {
  process: OwnedProcess;
  probe: () => Promise<void>;
  /**
   * True for a failed probe which shows that the process works on its start, however long that takes: the deadline
   * begins anew. Stopped at its deadline, a recovery would begin again with each start and never end.
   */
  isStarting?: (error: unknown) => boolean;
  deadlineMs: number;
  log: string;
  /** The byte offset at which this run's output begins in the log. */
  logFrom: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until a started process is ready. Stops it if it is not ready in time.
 *
 * @throws StartFault with the tail of the engine's log.
 */
export async function awaitReady(options: ReadinessOptions): Promise<void> {
  let deadline = performance.now() + options.deadlineMs;
  let last = 'no answer yet';
  while (options.process.end() === undefined && options.signal?.aborted !== true) {
    try {
      await options.probe();
      return;
    } catch (error) {
      last = errorMessage(error);
      if (options.isStarting?.(error) === true) deadline = performance.now() + options.deadlineMs;
    }
    if (performance.now() > deadline) break;
    await delay(40);
  }
  await options.process.stop();
  if (options.signal?.aborted === true) throw new StartFault(`${options.process.name}: the start was interrupted`);
  const tail = logTail(options.log, options.logFrom);
  throw new StartFault(
    `${options.process.name} did not start (${last}). The last lines of ${options.log}:\n${tail === '' ? '(empty)' : tail}`,
  );
}
