import type { Pool, Queryable } from '../../postgres/pool.ts';
import { execute, isChanged } from '../../postgres/sql.ts';
import { stopMonitors, withLockedAccount } from './lock-account-and-monitors.ts';

/**
 * Freezes an account: its keys are refused and its running monitors are paused. Nothing is deleted.
 *
 * @returns false when the account does not exist or is not active; nothing changes then
 */
export async function freezeAccount(pool: Pool, accountId: string): Promise<boolean> {
  const frozen = await withLockedAccount(pool, accountId, async (client, { account, monitors }) => {
    if (account.status !== 'active') return false;
    const running = monitors.filter(({ status }) => status === 'active').map(({ id }) => id);
    await stopMonitors(client, running, 'paused');
    await execute(client)`UPDATE accounts SET status = 'frozen' WHERE id = ${accountId}`;
    return true;
  });
  return frozen ?? false;
}

/**
 * Unfreezes an account. Its monitors stay paused, because resuming one costs credits.
 *
 * @returns false when the account does not exist or is not frozen
 */
export async function unfreezeAccount(db: Queryable, accountId: string): Promise<boolean> {
  return isChanged(db)`UPDATE accounts SET status = 'active' WHERE id = ${accountId} AND status = 'frozen'`;
}
