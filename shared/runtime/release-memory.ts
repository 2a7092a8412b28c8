import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects all garbage and gives the memory back to the system, which takes up to 0.2 s. For a process that has started
 * and now does less than before: V8 collects when a process allocates, so it would keep what only the start needed.
 *
 * @param most a heap in which more bytes are used is left as it is: collecting it would take longer
 */
export function releaseMemory(most = Infinity): void {
  if (memoryUsage().heapUsed > most) return;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  // Compiled code is kept on disk together with the flags, and is used only with the same flags.
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
