import type { Pool } from '../../../shared/postgres/pool.ts';
import { sqlState } from '../../../shared/postgres/postgres-away.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { listAccountsWithDueDigests } from '../../../shared/stores/digests/due-digests.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { Lease } from '../lease.ts';
import { makeDigests } from './make-digests.ts';
import type { MadeDigests } from './make-digests.ts';

const INTERVAL_MS = 5_000;
const ACCOUNTS_PER_PAGE = 500;
/** SQLSTATE of a statement that took longer than its limit. */
const TOOK_TOO_LONG = '57014';

export interface DigestRoundDeps {
  pool: Pool;
  dashboardUrl: string;
  metrics: Metrics;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * A round that makes the digests that are due, an account at a time, while this process has the lease. It costs one
 * short statement when none is due. An account whose statements take too long waits for the next round: the others must
 * not wait for it.
 *
 * @returns the round, which returns the milliseconds until the next one
 */
export function createDigestRound(deps: DigestRoundDeps, lease: Lease): () => Promise<number> {
  const { pool, signal } = deps;
  const mayContinue = async () => !signal.aborted && (await lease.mayContinue());
  return async () => {
    let after: string | undefined = '';
    while (after !== undefined && (await mayContinue())) {
      const accountIds: string[] = await listAccountsWithDueDigests(pool, after, ACCOUNTS_PER_PAGE);
      for (const accountId of accountIds) {
        if (!(await mayContinue())) return INTERVAL_MS;
        await makeOrSkip(deps, accountId);
      }
      after = accountIds.length < ACCOUNTS_PER_PAGE ? undefined : accountIds.at(-1);
    }
    return INTERVAL_MS;
  };
}

async function makeOrSkip({ pool, dashboardUrl, metrics, logger }: DigestRoundDeps, accountId: string): Promise<void> {
  try {
    count(metrics, await makeDigests({ pool, dashboardUrl }, accountId));
  } catch (error) {
    if (sqlState(error) !== TOOK_TOO_LONG) throw error;
    logger.warn({ err: error, accountId }, 'the digests of an account took too long; they are tried again');
  }
}

function count({ digestsMade, monitorEvents }: Metrics, made: MadeDigests): void {
  for (const to of ['webhook', 'mail', 'nobody'] as const) if (made[to] > 0) digestsMade.inc({ to }, made[to]);
  if (made.webhook > 0) monitorEvents.inc({ type: 'monitor.digest', outcome: 'stored' }, made.webhook);
}
