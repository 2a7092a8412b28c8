import { memoryUsage } from 'node:process';

/**
 * Collects all garbage, in up to 0.2 s, where the process has the argument COLLECTABLE. For one that has started and
 * now does little: V8 collects when a process allocates, and would keep what only the start needed.
 *
 * @param most a heap in which more bytes are used is left as it is: collecting it would take longer
 */
export function releaseMemory(most = Infinity): void {
  if (memoryUsage().heapUsed <= most) globalThis.gc?.({ type: 'major', flavor: 'last-resort' });
}

/** The argument of Node with which a process can release memory. */
export const COLLECTABLE = '--expose-gc';
