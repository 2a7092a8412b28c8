import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { CrawlSource } from './crawl-source.ts';
import type { SourcePlan } from './plan-sources.ts';
import { ThreadSource } from './threads/thread-source.ts';
import type { ThreadSourceDeps } from './threads/thread-source.ts';

export interface Archive {
  clickhouse: ClickHouseClient;
  /** Whether its schema is up to date. */
  isReady: boolean;
}

type SweepName = Extract<SourcePlan, { kind: 'sweep' }>['sweep'];

export type SweepDeps = Omit<ThreadSourceDeps, 'clickhouse' | 'isArchiveReady'> & { archive: Archive };

/** Creates a source that compares the forum with the archive. It waits while ClickHouse is away. */
export function createSweep(name: SweepName, deps: SweepDeps): CrawlSource {
  const { archive } = deps;
  const withArchive = { ...deps, clickhouse: archive.clickhouse, isArchiveReady: () => archive.isReady };
  const sweeps = { threads: () => new ThreadSource(withArchive) };
  return sweeps[name]();
}

/** Whether the service is ready without this source. */
export function isSweep(source: CrawlSource): boolean {
  return source instanceof ThreadSource;
}
