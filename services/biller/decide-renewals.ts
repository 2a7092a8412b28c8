import { MONITOR_PERIOD_CREDITS } from '../../shared/domain/accounts/credits.ts';
import type { PayingAccount, StoppedMonitor } from '../../shared/stores/monitors/renewals.ts';

export interface RenewalDecisions<M> {
  /** Monitors to charge, which continue; sorted by account and id. */
  renewed: M[];
  stopped: StoppedMonitor[];
}

/**
 * Decides which due monitors are renewed and which stop. Each account pays for its monitors in id order while its
 * balance covers them; the others stop. An account that is not active pays for none.
 */
export function decideRenewals<M extends { id: string; accountId: string }>(
  due: readonly M[],
  accounts: readonly PayingAccount[],
): RenewalDecisions<M> {
  const decisions: RenewalDecisions<M> = { renewed: [], stopped: [] };
  const byAccount = Map.groupBy(due, ({ accountId }) => accountId);
  for (const account of accounts) {
    const monitors = (byAccount.get(account.id) ?? []).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const isActive = account.status === 'active';
    const covered = isActive ? Math.floor(account.balance / MONITOR_PERIOD_CREDITS) : 0;
    decisions.renewed.push(...monitors.slice(0, covered));
    for (const { id } of monitors.slice(covered)) {
      decisions.stopped.push({ id, status: isActive ? 'paused_balance' : 'paused' });
    }
  }
  return decisions;
}
