import type { Spike as SpikeOfEvent } from '../../../schemas/messages/monitor-event.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { comparableHours } from '../../../shared/domain/spikes/comparable-hours.ts';
import { findSpikes, LEAST_MATCHES } from '../../../shared/domain/spikes/find-spikes.ts';
import { spikeResource } from '../../../shared/domain/spikes/spike-resource.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { insertMonitorEvent } from '../../../shared/stores/events/monitor-events.ts';
import { countMatchesByHour, listBusyMonitors } from '../../../shared/stores/matches/match-series.ts';
import { readMonitorHistory } from '../../../shared/stores/monitors/monitor-history.ts';
import { listSpikeWatchers } from '../../../shared/stores/monitors/spike-watchers.ts';

/** Matches are kept so long. */
const KEPT_MS = 30 * 86_400_000;
const PAGE = 500;
/** For the connection; each statement has a shorter limit of its own. */
const TIMEOUT_MS = 20_000;

export interface SpikeDeps {
  pool: Pool;
  clickhouse: ClickHouseClient;
  metrics: Pick<Metrics, 'monitorEvents'>;
  /** Whether this process may still do the work; asked before each monitor. */
  mayContinue: () => Promise<boolean>;
}

/**
 * Judges hours of all monitors that want to hear of spikes, and stores an event for each spike. Repeating it is
 * harmless: a monitor has one event an hour.
 *
 * @param from start of the first hour, `to` end of the last one, in milliseconds since 1970
 * @returns how many events were stored; undefined when it may not go on
 */
export async function findSpikesOfHours(
  { mayContinue, ...deps }: SpikeDeps,
  { from, to }: { from: number; to: number },
): Promise<number | undefined> {
  const { pool, clickhouse } = deps;
  let stored = 0;
  let after = '';
  for (;;) {
    const ids = await listSpikeWatchers(pool, after, PAGE);
    const last = ids.at(-1);
    if (last === undefined) return stored;
    const least = LEAST_MATCHES;
    const busy = await listBusyMonitors(clickhouse, ids, { from, to, least, signal: AbortSignal.timeout(TIMEOUT_MS) });
    for (const monitorId of busy) {
      if (!(await mayContinue())) return undefined;
      stored += await storeSpikes(deps, { monitorId, from, to });
    }
    after = last;
  }
}

async function storeSpikes(
  { pool, clickhouse, metrics }: Omit<SpikeDeps, 'mayContinue'>,
  { monitorId, from, to }: { monitorId: string; from: number; to: number },
): Promise<number> {
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
  return stored;
}
