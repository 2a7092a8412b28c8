import {
  DELIVERIES_ARCHIVER_GROUP,
  MATCHES_ARCHIVER_GROUP,
  MONITOR_DELIVERIES,
  MONITOR_MATCHES,
} from '../../schemas/messages/topics.ts';
import { eraseMonitorsInArchive } from '../../shared/clickhouse/erase-monitors.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import { isKafkaUnavailable } from '../../shared/kafka/kafka-unavailable.ts';
import {
  eraseMonitorRows,
  eraseMonitors,
  finishErasure,
  listAccountsToErase,
  listAccountsToEraseInArchive,
  markErasedHere,
  storeArchiveOffsets,
} from '../../shared/maintenance/erasure.ts';
import type { AccountErasure, TopicOffsets } from '../../shared/maintenance/erasure.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Continuing } from './jobs.ts';
import type { BillerDeps } from './start-biller.ts';

/** Rows per statement: locks and transactions stay short, and other work runs in between. */
const BATCH = 5_000;
const MONITORS_PER_STATEMENT = 500;
const ACCOUNTS_PER_RUN = 100;
/** Longer than a recorder or deliverer can take to publish what it had read before the account was deleted. */
const SETTLED_SECONDS = 60;

export type ErasureDeps = Pick<BillerDeps, 'pool' | 'kafka' | 'prefix' | 'clickhouse' | 'logger'> & Continuing;

/**
 * Advances the erasure of deleted accounts as far as possible now. Each step is harmless to repeat, so after a crash
 * the next run repeats one of them. Steps for each account:
 * 1. Delete its rows from Postgres, the monitors last.
 * 2. Mark the account as erased in Postgres.
 * 3. A minute later, when no process publishes anything of it any more, store the heads of the topics and delete its
 *    rows from ClickHouse.
 * 4. When the archivers have passed those heads, delete the rows that they added since.
 * 5. When none is left, mark the erasure as finished.
 */
export async function advanceErasures(options: ErasureDeps): Promise<void> {
  const { pool, kafka, prefix, mayContinue, logger } = options;
  for (const erasure of await listAccountsToErase(pool, ACCOUNTS_PER_RUN)) {
    if (await eraseInPostgres(pool, erasure, mayContinue)) {
      logger.info({ account_id: erasure.accountId }, 'erased a deleted account from Postgres');
    }
  }
  const settled = await listAccountsToEraseInArchive(pool, SETTLED_SECONDS, ACCOUNTS_PER_RUN);
  if (settled.length === 0) return;
  const progress = await readArchiveProgress(kafka, prefix).catch((error: unknown) => {
    if (isKafkaUnavailable(error)) throw error;
    // For instance a permission is missing: the other jobs of this process must go on.
    logger.error({ err: error }, 'the offsets of the archived topics cannot be read; erasures wait for them');
  });
  if (progress === undefined) return;
  for (const erasure of settled) {
    if (!(await mayContinue())) return;
    if (await eraseInArchive(options, erasure, progress)) {
      logger.info({ account_id: erasure.accountId }, 'erased a deleted account everywhere');
    }
  }
}

/** Returns false when it was stopped before the end or rows were added meanwhile; the next run continues. */
async function eraseInPostgres(
  pool: Pool,
  { accountId, monitorIds }: AccountErasure,
  mayContinue: () => Promise<boolean>,
): Promise<boolean> {
  for (let first = 0; first < monitorIds.length; first += MONITORS_PER_STATEMENT) {
    const ids = monitorIds.slice(first, first + MONITORS_PER_STATEMENT);
    if (!(await eraseMonitorRows(pool, ids, BATCH, mayContinue))) return false;
    await eraseMonitors(pool, ids);
  }
  return markErasedHere(pool, accountId);
}

/**
 * @param progress must be read before the call, so that everything archived by then is visible to the deletes
 * @returns true when nothing of the account is left
 */
async function eraseInArchive(
  { pool, clickhouse }: ErasureDeps,
  { accountId, monitorIds, archiveOffsets: heads }: AccountErasure,
  progress: ArchiveProgress,
): Promise<boolean> {
  if (heads === null) await storeArchiveOffsets(pool, accountId, progress.heads);
  const isClean = await eraseMonitorsInArchive(clickhouse, monitorIds);
  if (!isClean || !isArchivedUpTo(heads ?? progress.heads, progress)) return false;
  await finishErasure(pool, accountId);
  return true;
}

/** The topics whose archived rows belong to a monitor, and the consumer groups that archive them. */
const ARCHIVED = [
  { topic: MONITOR_MATCHES.name, group: MATCHES_ARCHIVER_GROUP },
  { topic: MONITOR_DELIVERIES.name, group: DELIVERIES_ARCHIVER_GROUP },
];

interface ArchiveProgress {
  /** By topic and partition: the offset after the last record (high watermark). */
  heads: TopicOffsets;
  /** By topic and partition: every record below this offset is in the archive or has expired. */
  archived: TopicOffsets;
}

/** Reads how far the topics with matches and attempts go now, and how far they are archived. */
function readArchiveProgress(kafka: KafkaConnection, prefix: string): Promise<ArchiveProgress> {
  return kafka.withAdmin(async (admin) => {
    const progress: ArchiveProgress = { heads: {}, archived: {} };
    for (const { topic, group } of ARCHIVED) {
      const name = prefix + topic;
      // Committed offsets first: they cannot exceed heads that are read later.
      const [committed] = await admin.fetchOffsets({ groupId: prefix + group, topics: [name] });
      const offsets = await admin.fetchTopicOffsets(name);
      const commits = new Map(committed?.partitions.map(({ partition, offset }) => [partition, offset]));
      progress.heads[topic] = Object.fromEntries(offsets.map(({ partition, high }) => [partition, high]));
      progress.archived[topic] = Object.fromEntries(
        offsets.map(({ partition, low }) => [partition, later(low, commits.get(partition) ?? low)]),
      );
    }
    return progress;
  });
}

/** Returns whether every record below the earlier `heads` is in the archive or has expired. */
export function isArchivedUpTo(heads: TopicOffsets, progress: ArchiveProgress): boolean {
  return Object.entries(heads).every(([topic, partitions]) =>
    Object.entries(partitions).every(([partition, head]) => {
      const now = progress.heads[topic]?.[partition];
      const archived = progress.archived[topic]?.[partition];
      // A head lower than before means that the topic was created again, without its old records.
      return now !== undefined && archived !== undefined && BigInt(archived) >= earlier(head, now);
    }),
  );
}

function later(a: string, b: string): string {
  return BigInt(a) > BigInt(b) ? a : b;
}

function earlier(a: string, b: string): bigint {
  return BigInt(a) < BigInt(b) ? BigInt(a) : BigInt(b);
}
