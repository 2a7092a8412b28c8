import type { Spike as SpikeOfEvent } from '../../schemas/messages/monitor-event.ts';
import { comparableHours, findSpikes, LEAST_MATCHES, spikeResource } from '../../shared/monitors/rules/find-spikes.ts';
import { insertMonitorEvent } from '../../shared/deliveries/event-deliveries.ts';
import { countMatchesByHour, listBusyMonitors } from '../../shared/matches/match-series.ts';
import { readMonitorHistory, listSpikeWatchers } from '../../shared/monitors/monitor-history.ts';
import { readServiceTime } from '../../shared/maintenance/settings.ts';
import type { Continuing } from './jobs.ts';
import type { BillerDeps } from './start-biller.ts';

const HOUR_MS = 3_600_000;
/** An hour is checked this long after its end, when the archive has its matches. */
const DELAY_MS = 3 * 60_000;
/** Each hour is checked this many times, an hour apart, for matches that the archive got late. */
const HOURS = 6;
/** Matches are kept this long. */
const KEPT_MS = 30 * 86_400_000;
const PAGE = 500;
/** For the connection; each statement has a shorter limit of its own. */
const TIMEOUT_MS = 20_000;

type SpikeDeps = Pick<BillerDeps, 'pool' | 'clickhouse' | 'metrics'> & Continuing;

/**
 * Checks the last hours of all monitors with `spike_webhook`, and stores an event for each spike. Repeating it
 * is harmless: a monitor has one event an hour.
 *
 * @returns milliseconds until the next hour is due; false when it must stop
 */
export async function findRecentSpikes({ mayContinue, ...deps }: SpikeDeps): Promise<number | false> {
  const { pool, clickhouse } = deps;
  const now = await readServiceTime(pool);
  const to = Math.floor((now - DELAY_MS) / HOUR_MS) * HOUR_MS;
  const from = to - HOURS * HOUR_MS;
  let after = '';
  for (;;) {
    const ids = await listSpikeWatchers(pool, after, PAGE);
    const last = ids.at(-1);
    if (last === undefined) return to + HOUR_MS + DELAY_MS - now;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const busy = await listBusyMonitors(clickhouse, ids, { from, to, least: LEAST_MATCHES, signal });
    for (const monitorId of busy) {
      if (!(await mayContinue())) return false;
      await storeSpikes(deps, { monitorId, from, to });
    }
    after = last;
  }
}

async function storeSpikes(
  { pool, clickhouse, metrics }: Omit<SpikeDeps, 'mayContinue'>,
  { monitorId, from, to }: { monitorId: string; from: number; to: number },
): Promise<void> {
  const knownSince = to - KEPT_MS;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const counts = await countMatchesByHour(clickhouse, { monitorId, from: knownSince, to, signal });
  const isComparable = comparableHours(await readMonitorHistory(pool, monitorId), knownSince);
  let stored = 0;
  for (const spike of findSpikes({ from, to, counts, isComparable })) {
    const { at, count, median: expected, score } = spikeResource(spike);
    const payload: SpikeOfEvent = { at, interval: 'hour', count, expected, score };
    if (await insertMonitorEvent(pool, { monitorId, kind: 'monitor.spike', key: at, payload })) stored += 1;
  }
  if (stored > 0) metrics.monitorEvents.inc({ type: 'monitor.spike', outcome: 'stored' }, stored);
}
