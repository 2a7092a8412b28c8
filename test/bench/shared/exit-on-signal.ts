import { constants } from 'node:os';

/**
 * Lets SIGINT and SIGTERM end this process by an exit, with the status that a shell reports for the signal: 130 or 143.
 * Without a listener a signal ends it at once, and the listeners of `exit`, which kill its children, do not run.
 */
export function exitOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
}
