import { delay } from '../../../shared/runtime/clock.ts';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { logTail } from './owned-process.ts';
import type { OwnedProcess } from './owned-process.ts';
import { StartFault } from './start-fault.ts';

export interface ReadinessOptions {
  process: OwnedProcess;
  /** Resolves when the engine does its work, throws while it does not yet. */
  probe: () => Promise<void>;
  deadlineMs: number;
  log: string;
  /** Where this run's part of the log begins. */
  logFrom: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until a started engine answers. When it ends first, or does not answer in time, it is stopped.
 *
 * @throws StartFault with the tail of the engine's log.
 */
export async function awaitReady(options: ReadinessOptions): Promise<void> {
  const deadline = performance.now() + options.deadlineMs;
  let last = 'no answer yet';
  while (options.process.end() === undefined) {
    if (options.signal?.aborted === true || performance.now() > deadline) {
      await options.process.stop();
      break;
    }
    try {
      await options.probe();
      return;
    } catch (error) {
      last = errorMessage(error);
    }
    await delay(40);
  }
  if (options.signal?.aborted === true) throw new StartFault(`${options.process.name}: the start was interrupted`);
  const tail = logTail(options.log, options.logFrom);
  throw new StartFault(
    `${options.process.name} did not start (${last}); the end of ${options.log}:\n${tail === '' ? '(empty)' : tail}`,
  );
}
