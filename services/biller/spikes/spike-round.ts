import { readServiceTime } from '../../../shared/stores/upkeep/postgres-time.ts';
import type { Lease } from '../lease.ts';
import { findSpikesOfHours } from './find-spikes-of-hours.ts';
import type { SpikeDeps } from './find-spikes-of-hours.ts';

const HOUR_MS = 3_600_000;
const INTERVAL_MS = 60_000;
/** An hour is judged so long after its end, when the archive has its matches. */
const DELAY_MS = 3 * 60_000;
/** Each hour is judged so many times, an hour apart, for matches that the archive got late. */
const HOURS = 6;

/**
 * A round that looks for spikes once an hour while this process has the lease. A process that gets the lease judges the
 * last hours once more, which stores nothing twice.
 *
 * @returns the round, which returns the milliseconds until the next one
 */
export function createSpikeRound(
  { signal, ...deps }: Omit<SpikeDeps, 'mayContinue'> & { signal: AbortSignal },
  lease: Lease,
): () => Promise<number> {
  let judgedTo = 0;
  const mayContinue = async () => !signal.aborted && (await lease.mayContinue());
  return async () => {
    if (!(await mayContinue())) {
      judgedTo = 0;
      return INTERVAL_MS;
    }
    const to = Math.floor(((await readServiceTime(deps.pool)) - DELAY_MS) / HOUR_MS) * HOUR_MS;
    if (to === judgedTo) return INTERVAL_MS;
    const stored = await findSpikesOfHours({ ...deps, mayContinue }, { from: to - HOURS * HOUR_MS, to });
    if (stored !== undefined) judgedTo = to;
    return INTERVAL_MS;
  };
}
