import type { ItemContent } from '../../../schemas/messages/forum-item.ts';
import type { KafkaConnection } from '../../../shared/kafka/kafka-connection.ts';
import type { Publisher } from '../../../shared/kafka/publisher.ts';
import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { CooperativeYield } from '../../../shared/runtime/cooperative-yield.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { LiveLoad } from '../start-recorder.ts';
import type { ScanPosition } from '../../../shared/stores/backfills/backfill-claims.ts';

/** An item of the archive that may match. */
export interface ArchivedCandidate {
  position: ScanPosition;
  content: ItemContent;
  /** What matching sees of it. */
  item: MatchItem;
}

export interface ArchiveRange {
  rule: Rule;
  /** First seen from here on. */
  from: Date;
  /** First seen before this. */
  to: Date;
  /** undefined: from the beginning. */
  after: ScanPosition | undefined;
}

/**
 * Reads a part of what may match in a range, in the order of (first_seen_at, thing_id).
 *
 * @returns `next`: the position to go on after; undefined when nothing is left
 */
export type ReadArchive = (
  range: ArchiveRange,
  signal: AbortSignal,
) => Promise<{ items: ArchivedCandidate[]; next: ScanPosition | undefined }>;

export interface BackfillDeps {
  kafka: KafkaConnection;
  /** Prefix of topics and consumer groups. */
  prefix: string;
  /** Over how many groups of matchers the monitors are shared out; default 1. */
  matcherShards?: number;
  publisher: Publisher;
  pool: Pool;
  readArchive: ReadArchive;
  /** Resolves with true when the archive's schema is up to date, with false when the process stops before. */
  archiveReady: Promise<boolean>;
  /** How far the clocks of crawler, broker and Postgres may differ, in ms: 0 on one machine. */
  toleranceMs: number;
  /** After a kill -9 another process takes a run up this late; default 30. */
  leaseSeconds?: number;
  /** Of the recorder of this process. */
  liveLoad: LiveLoad;
  metrics: Metrics;
  logger: Logger;
}

/** What the work on one run needs. */
export type RunDeps = Required<BackfillDeps> & { cooperativeYield: CooperativeYield; signal: AbortSignal };
