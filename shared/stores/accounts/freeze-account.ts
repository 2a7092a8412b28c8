import type { Pool, Queryable } from '../../postgres/pool.ts';
import { stopMonitors, withLockedAccount } from './lock-account-and-monitors.ts';

/**
 * Shuts an account out: its keys are refused from now on, and its running monitors are paused. Nothing is removed.
 *
 * @returns false when there is no such account, or it is not active: then nothing changed
 */
export async function freezeAccount(pool: Pool, accountId: string): Promise<boolean> {
  const frozen = await withLockedAccount(pool, accountId, async (client, { account, monitors }) => {
    if (account.status !== 'active') return false;
    const running = monitors.filter(({ status }) => status === 'active').map(({ id }) => id);
    await stopMonitors(client, running, 'paused');
    await setFrozen(client, accountId);
    return true;
  });
  return frozen ?? false;
}

async function setFrozen(db: Queryable, accountId: string): Promise<void> {
  await db.query(`UPDATE accounts SET status = 'frozen' WHERE id = $1`, [accountId]);
}

/**
 * Lets a frozen account in again. Its monitors stay paused: resuming one is paid for.
 *
 * @returns false when it is not frozen, or there is no such account
 */
export async function unfreezeAccount(db: Queryable, accountId: string): Promise<boolean> {
  const { rowCount } = await db.query(`UPDATE accounts SET status = 'active' WHERE id = $1 AND status = 'frozen'`, [
    accountId,
  ]);
  return rowCount === 1;
}
