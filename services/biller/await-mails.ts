import { delay } from '../../shared/runtime/clock.ts';

/** A part of a process has 10 s to stop. */
const STOP_MS = 6_000;

/**
 * Waits for mails that are leased. A stop waits for a few seconds only: what is not settled then is mailed again after
 * its lease.
 *
 * @throws what the first failing one throws, once all have ended
 */
export async function awaitMails(
  mails: readonly Promise<void>[],
  { leaseSeconds, signal }: { leaseSeconds: number; signal: AbortSignal },
): Promise<void> {
  const ended = new AbortController();
  const all = Promise.allSettled(mails).finally(() => ended.abort());
  const stopped = async () => {
    await delay(leaseSeconds * 1_000, AbortSignal.any([signal, ended.signal]));
    await delay(STOP_MS, ended.signal);
  };
  await Promise.race([all, stopped()]);
  if (!ended.signal.aborted) return;
  const failed = (await all).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason as Error;
}
