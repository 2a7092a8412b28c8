import { setTimeout as wait } from 'node:timers/promises';

/**
 * Asks again until `probe` gives something other than undefined or false, and returns it.
 *
 * @throws an error that names `what` after `timeoutMs`, with the probe's last error as its cause
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`, { cause: last });
    await wait(50);
  }
}
