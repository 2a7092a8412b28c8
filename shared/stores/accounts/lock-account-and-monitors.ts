import type { MonitorStatus } from '../../../schemas/api/monitor.ts';
import { MONITOR_CHANGED_CHANNEL } from '../../../schemas/messages/notifications.ts';
import { inTransaction } from '../../postgres/pool.ts';
import type { Pool, PoolClient, Queryable } from '../../postgres/pool.ts';
import { execute, readRows } from '../../postgres/sql.ts';
import { lockAccount } from './accounts.ts';
import type { StoredAccount } from './accounts.ts';

/** A locked account with its locked monitors, without deleted ones. */
export interface LockedAccount {
  account: StoredAccount;
  monitors: { id: string; status: MonitorStatus }[];
}

/** A monitor was created after the list of monitors to lock was read. */
class MonitorCreated extends Error {
  override name = 'MonitorCreated';
}

/**
 * Runs `work` in a transaction that holds the locks of an account and of all its monitors. Until it commits, nobody
 * else can start, stop, change or create a monitor of the account, record a match of one, or move the account's
 * credits.
 *
 * @returns what `work` returns; undefined when the account does not exist (`work` does not run then)
 */
export async function withLockedAccount<T>(
  pool: Pool,
  accountId: string,
  work: (client: PoolClient, whole: LockedAccount) => Promise<T>,
): Promise<T | undefined> {
  for (;;) {
    try {
      return await inTransaction(pool, async (client) => {
        const whole = await lockAccountAndMonitors(client, accountId);
        return whole && (await work(client, whole));
      });
    } catch (error) {
      if (!(error instanceof MonitorCreated)) throw error;
    }
  }
}

/**
 * Locks in the lock order of the service, which begins with the monitors. Throws MonitorCreated when a monitor was
 * created in between; the caller then starts again.
 */
async function lockAccountAndMonitors(db: Queryable, accountId: string): Promise<LockedAccount | undefined> {
  const listed = await readRows<{ id: string }>(db)`
    SELECT id FROM monitors WHERE account_id = ${accountId} AND status <> 'deleted'`;
  const ids = listed.map(({ id }) => id);
  await execute(db)`SELECT FROM monitor_counters WHERE monitor_id = ANY (${ids}) ORDER BY monitor_id FOR UPDATE`;
  await execute(db)`SELECT FROM monitors WHERE id = ANY (${ids}) ORDER BY id FOR NO KEY UPDATE`;
  const account = await lockAccount(db, accountId);
  if (!account) return undefined;
  const monitors = await readRows<LockedAccount['monitors'][number]>(db)`
    SELECT id, status FROM monitors WHERE account_id = ${accountId} AND status <> 'deleted' ORDER BY id`;
  const locked = new Set(ids);
  if (monitors.some(({ id }) => !locked.has(id))) throw new MonitorCreated();
  return { account, monitors };
}

/** Stops locked monitors and notifies the matchers at commit. */
export async function stopMonitors(db: Queryable, ids: readonly string[], status: 'paused' | 'deleted'): Promise<void> {
  await execute(db)`
    WITH stopped AS (
      UPDATE monitors SET status = ${status}, updated_at = service_now() WHERE id = ANY (${ids})
      RETURNING id
    )
    SELECT pg_notify(${MONITOR_CHANGED_CHANNEL}, id) FROM stopped`;
}
