import type { Metrics } from '../runtime/metrics.ts';
import type { Pool } from './pool.ts';

/** Exports how many connections of a pool are used, each time that one is taken or returned, under the pool's name. */
export function exportPoolUse(
  pool: Pool,
  { name, metrics }: { name: string; metrics: Pick<Metrics, 'postgresConnections' | 'postgresQueue'> },
): void {
  const update = () => {
    metrics.postgresConnections.set({ pool: name, state: 'busy' }, pool.totalCount - pool.idleCount);
    metrics.postgresConnections.set({ pool: name, state: 'idle' }, pool.idleCount);
    metrics.postgresConnections.set({ pool: name, state: 'free' }, pool.options.max - pool.totalCount);
    metrics.postgresQueue.set({ pool: name }, pool.waitingCount);
  };
  update();
  // pg emits `release` before it counts the connection as idle.
  const updateSoon = () => {
    queueMicrotask(update);
  };
  pool.on('acquire', updateSoon);
  pool.on('release', updateSoon);
  pool.on('remove', updateSoon);
}
