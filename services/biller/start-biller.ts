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

const RENEWAL_INTERVAL_MS = 1_000;
const SWEEP_INTERVAL_MS = 10 * 60_000;
const ERASURE_INTERVAL_MS = 5_000;
/** How often somebody looks whether today's check was made. */
const LEDGER_CHECK_INTERVAL_MS = 10 * 60_000;

/**
 * Renews monitors, in every process that runs this; and, each in one process at a time: deletes what is past its
 * retention, erases deleted accounts, and once a day compares the balances with the ledger.
 */
export function startBiller(deps: BillerDeps): Running {
  const logger = deps.logger.child({ service: 'biller' });
  const stopping = new AbortController();
  const { signal } = stopping;
  const roundDeps = { ...deps, logger, signal };
  const leases = {
    retention: new Lease(deps.pool, 'retention'),
    erasures: new Lease(deps.pool, 'erasures'),
    ledger: new Lease(deps.pool, 'ledger-check'),
  };
  const rounds = {
    renewing: () => renew(roundDeps),
    'deleting what is old': () => sweep(roundDeps, leases.retention),
    'erasing accounts': () => erase(roundDeps, leases.erasures),
    'checking the ledger': () => compareLedger(roundDeps, leases.ledger),
  };
  const loops = Object.entries(rounds).map(([what, work]) =>
    startLoop({ ...roundDeps, what, work, retryMs: RENEWAL_INTERVAL_MS }),
  );
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      for (const lease of Object.values(leases)) await release(lease);
    },
  };
}

type RoundDeps = BillerDeps & { signal: AbortSignal };

/** Goes on at once while there is something to renew. */
async function renew(roundDeps: RoundDeps): Promise<number> {
  return (await runRenewalPass(roundDeps)) > 0 ? 0 : RENEWAL_INTERVAL_MS;
}

async function sweep(roundDeps: RoundDeps, lease: Lease): Promise<number> {
  const mayContinue = () => lease.mayContinue();
  if (await mayContinue()) await sweepRetention({ ...roundDeps, mayContinue });
  return SWEEP_INTERVAL_MS;
}

async function erase(roundDeps: RoundDeps, lease: Lease): Promise<number> {
  const open = await countOpenErasures(roundDeps.pool);
  roundDeps.metrics.erasuresOpen.set(open);
  const mayContinue = () => lease.mayContinue();
  if (open > 0 && (await mayContinue())) await advanceErasures({ ...roundDeps, mayContinue });
  return ERASURE_INTERVAL_MS;
}

/** After a check the lease stays behind until the day ends: nobody checks again before. */
async function compareLedger(roundDeps: RoundDeps, lease: Lease): Promise<number> {
  const mayContinue = () => lease.mayContinue();
  if ((await mayContinue()) && (await checkLedger({ ...roundDeps, mayContinue }))) {
    await lease.holdFor(await secondsUntilTomorrow(roundDeps.pool));
  }
  return LEDGER_CHECK_INTERVAL_MS;
}

/** A lease that stays ends by itself. */
async function release(lease: Lease): Promise<void> {
  await lease.release().catch((error: unknown) => {
    if (!isPostgresAway(error)) throw error;
  });
}
