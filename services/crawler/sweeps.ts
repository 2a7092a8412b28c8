import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import { AuditSource } from './audit/audit-source.ts';
import type { CrawlSource } from './crawl-source.ts';
import type { SourcePlan } from './plan-sources.ts';
import { RecheckSource } from './rechecks/recheck-source.ts';
import { ThreadSource } from './threads/thread-source.ts';
import type { ThreadSourceDeps } from './threads/thread-source.ts';

export interface Archive {
  clickhouse: ClickHouseClient;
  /** Whether its schema is up to date. */
  isReady: boolean;
}

/** In milliseconds. Without them the defaults of the classes hold. */
export interface SweepTimes {
  /** The least time between two looks at the comment count of a post. */
  checkEveryMs?: number;
  /** The ages at which things are looked at again. */
  recheckAgesMs?: readonly number[];
  /** The lengths of the audit's windows. */
  auditStepsMs?: readonly number[];
}

type SweepName = Extract<SourcePlan, { kind: 'sweep' }>['sweep'];

export type SweepDeps = Omit<ThreadSourceDeps, 'clickhouse' | 'isArchiveReady' | 'checkEveryMs'> & {
  archive: Archive;
  publisher: Pick<Publisher, 'publishAll'>;
  sweepTimes?: SweepTimes | undefined;
};

/** Creates a source that compares the forum with the archive. It waits while ClickHouse is away. */
export function createSweep(name: SweepName, deps: SweepDeps): CrawlSource {
  const { archive, sweepTimes = {} } = deps;
  const withArchive = { ...deps, clickhouse: archive.clickhouse, isArchiveReady: () => archive.isReady };
  const sweeps = {
    threads: () => new ThreadSource({ ...withArchive, checkEveryMs: sweepTimes.checkEveryMs }),
    rechecks: () => new RecheckSource({ ...withArchive, agesMs: sweepTimes.recheckAgesMs }),
    audit: () => new AuditSource({ ...withArchive, stepsMs: sweepTimes.auditStepsMs }),
  };
  return sweeps[name]();
}

/** Whether the service is ready without this source. */
export function isSweep(source: CrawlSource): boolean {
  return source instanceof ThreadSource || source instanceof RecheckSource || source instanceof AuditSource;
}
