import { isMonitorId } from '../../../shared/rules/identifiers.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import type { PublicUrlOptions } from '../../../shared/http/public-address.ts';
import type { Queryable, Pool } from '../../../shared/postgres/pool.ts';
import { lockMonitor, readLastSeqOf, readMonitor } from '../../../shared/monitors/monitors.ts';
import type { StoredMonitor } from '../../../shared/monitors/monitors.ts';
import { noSuchMonitor } from '../http/api-error.ts';
import type { ArchiveSample } from './archive-sample.ts';

/** @throws ApiError not_found when the account has no such monitor or has deleted it */
export async function findMonitor(db: Queryable, accountId: string, id: string): Promise<StoredMonitor> {
  const monitor = isMonitorId(id) ? await readMonitor(db, accountId, id) : undefined;
  if (!monitor || monitor.status === 'deleted') throw noSuchMonitor();
  return monitor;
}

/**
 * The seq of the monitor's last match, 0 before the first.
 *
 * @throws ApiError not_found as above
 */
export async function findLastSeq(db: Queryable, accountId: string, id: string): Promise<number> {
  const lastSeq = isMonitorId(id) ? await readLastSeqOf(db, accountId, id) : undefined;
  if (lastSeq === undefined) throw noSuchMonitor();
  return lastSeq;
}

/**
 * Locks the monitor, then reads it in a separate statement: a statement that waited for the lock would still see the
 * state from before the wait.
 *
 * @throws ApiError not_found as above
 */
export async function findAndLockMonitor(db: Queryable, accountId: string, id: string): Promise<StoredMonitor> {
  if (!isMonitorId(id)) throw noSuchMonitor();
  await lockMonitor(db, accountId, id);
  return findMonitor(db, accountId, id);
}

/** Collaborators of the monitor routes. */
export interface MonitorDeps {
  pool: Pool;
  /** Seals webhook secrets, with the monitor's id as context. */
  secretBox: SecretBox;
  /** How webhook URLs are checked. */
  webhooks: PublicUrlOptions;
  /** The forum's public address, which URLs of posts begin with. */
  siteUrl: string;
  /** How many suppressed matches are stored per monitor and UTC day; named in warnings. */
  suppressedPerDay: number;
  /** For the shares of common keywords; named in warnings. */
  archiveSample: ArchiveSample;
}
