import { isPostgresAway } from '../../shared/postgres/postgres-away.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import { countOpenErasures } from '../../shared/stores/upkeep/erasure.ts';
import { secondsUntilTomorrow } from '../../shared/stores/accounts/ledger-check.ts';
import type { BillerDeps } from './biller-deps.ts';
import { advanceErasures } from './erase-accounts.ts';
import { Lease } from './lease.ts';
import { checkLedger } from './ledger-check.ts';
import { runRenewalPass } from './renewal-pass.ts';
import { sweepRetention } from './retention-sweep.ts';
import { startLoop } from './start-loop.ts';

const RENEWALS_EVERY_MS = 1_000;
const SWEEP_EVERY_MS = 10 * 60_000;
const ERASURES_EVERY_MS = 5_000;
/** How often somebody looks whether today's check was made. */
const LEDGER_EVERY_MS = 10 * 60_000;

/**
 * Renews monitors, in every process that runs this; and, each in one process at a time: deletes what is past its
 * retention, erases deleted accounts, and once a day compares the balances with the ledger.
 */
export function startBiller(deps: BillerDeps): Running {
  const logger = deps.logger.child({ service: 'biller' });
  const stopping = new AbortController();
  const { signal } = stopping;
  const parts = { ...deps, logger, signal };
  const leases = {
    retention: new Lease(deps.pool, 'retention'),
    erasures: new Lease(deps.pool, 'erasures'),
    ledger: new Lease(deps.pool, 'ledger-check'),
  };
  const rounds = {
    renewing: () => renew(parts),
    'deleting what is old': () => sweep(parts, leases.retention),
    'erasing accounts': () => erase(parts, leases.erasures),
    'checking the ledger': () => compareLedger(parts, leases.ledger),
  };
  const loops = Object.entries(rounds).map(([what, work]) =>
    startLoop({ ...parts, what, work, retryMs: RENEWALS_EVERY_MS }),
  );
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      for (const lease of Object.values(leases)) await release(lease);
    },
  };
}

type Parts = BillerDeps & { signal: AbortSignal };

/** Goes on at once while there is something to renew. */
async function renew(parts: Parts): Promise<number> {
  return (await runRenewalPass(parts)) > 0 ? 0 : RENEWALS_EVERY_MS;
}

async function sweep(parts: Parts, lease: Lease): Promise<number> {
  const mayGoOn = () => lease.mayGoOn();
  if (await mayGoOn()) await sweepRetention({ ...parts, mayGoOn });
  return SWEEP_EVERY_MS;
}

async function erase(parts: Parts, lease: Lease): Promise<number> {
  const open = await countOpenErasures(parts.pool);
  parts.metrics.erasuresOpen.set(open);
  const mayGoOn = () => lease.mayGoOn();
  if (open > 0 && (await mayGoOn())) await advanceErasures({ ...parts, mayGoOn });
  return ERASURES_EVERY_MS;
}

/** After a check the lease stays behind until the day ends: nobody checks again before. */
async function compareLedger(parts: Parts, lease: Lease): Promise<number> {
  const mayGoOn = () => lease.mayGoOn();
  if ((await mayGoOn()) && (await checkLedger({ ...parts, mayGoOn }))) {
    await lease.leaveFor(await secondsUntilTomorrow(parts.pool));
  }
  return LEDGER_EVERY_MS;
}

/** A lease that stays ends by itself. */
async function release(lease: Lease): Promise<void> {
  await lease.release().catch((error: unknown) => {
    if (!isPostgresAway(error)) throw error;
  });
}
