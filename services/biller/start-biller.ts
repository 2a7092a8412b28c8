import { isPostgresAway } from '../../shared/postgres/postgres-away.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import { countOpenErasures } from '../../shared/stores/upkeep/erasure.ts';
import { secondsUntilTomorrow } from '../../shared/stores/ledger/ledger-check.ts';
import { reverseUnknownCharges } from '../../shared/stores/ledger/unknown-charges.ts';
import type { BillerDeps } from './biller-deps.ts';
import { copyTables } from './copy-tables.ts';
import { createDigestRound } from './digests/digest-round.ts';
import { mailDigests } from './digests/mail-digests.ts';
import { advanceErasures } from './erase-accounts.ts';
import { InstallationReport } from './installation-report.ts';
import { Lease } from './lease.ts';
import { checkLedger } from './ledger-check.ts';
import { RECONCILIATION_SECONDS, reconciliationRound, voidingRound } from './payment-rounds.ts';
import { mailNotices } from './notices/mail-notices.ts';
import { createNoticeRound } from './notices/notice-round.ts';
import { runRenewalPass } from './renewal-pass.ts';
import { sweepRetention } from './retention-sweep.ts';
import { createSpikeRound } from './spikes/spike-round.ts';
import { startLoop } from './start-loop.ts';

const RENEWAL_INTERVAL_MS = 1_000;
const SWEEP_INTERVAL_MS = 10 * 60_000;
const ERASURE_INTERVAL_MS = 5_000;
/** Metrics are usually read every 15 s. */
const REPORT_INTERVAL_MS = 15_000;
const COPY_INTERVAL_MS = 5_000;
const MAIL_INTERVAL_MS = 2_000;
const REVERSAL_INTERVAL_MS = 5_000;
const REVERSED_AT_ONCE = 100;
/** All rows are compared this often. */
const FULL_COPY_MS = 10 * 60_000;
const DAY_SECONDS = 86_400;
/** How often each process checks whether today's ledger check was made. */
const LEDGER_CHECK_INTERVAL_MS = 10 * 60_000;

/**
 * Renews monitors, reverses charges and mails notices and digests in every process that runs this. In one process at a
 * time (`Lease`) it also deletes rows past their retention, erases deleted accounts, copies monitors and gaps into
 * ClickHouse, looks for notices and spikes, makes digests, compares payments with the payment provider every hour, and
 * once a day the balances with the ledger.
 */
export function startBiller(deps: BillerDeps): Running {
  const logger = deps.logger.child({ service: 'biller' });
  const stopping = new AbortController();
  const { signal } = stopping;
  const roundDeps = { ...deps, logger, signal };
  const leases = {
    retention: new Lease(deps.pool, 'retention'),
    erasures: new Lease(deps.pool, 'erasures'),
    ledger: new Lease(deps.pool, 'ledger-check', DAY_SECONDS),
    report: new Lease(deps.pool, 'installation-report'),
    copies: new Lease(deps.pool, 'archive-copies'),
    voiding: new Lease(deps.pool, 'voiding-payments'),
    reconciliation: new Lease(deps.pool, 'payment-reconciliation', RECONCILIATION_SECONDS),
    notices: new Lease(deps.pool, 'notices'),
    digests: new Lease(deps.pool, 'digests'),
    spikes: new Lease(deps.pool, 'spikes'),
  };
  const report = new InstallationReport(deps.metrics);
  // These names are values of the label `work` of metrics: dashboards and alerts use them.
  const rounds = {
    renewing: () => renew(roundDeps),
    'reversing charges': () => reverse(roundDeps),
    'deleting what is old': () => sweep(roundDeps, leases.retention),
    'erasing accounts': () => erase(roundDeps, leases.erasures),
    'checking the ledger': () => compareLedger(roundDeps, leases.ledger),
    'counting for metrics': () => reportInstallation(roundDeps, leases.report, report),
    'copying monitors and gaps': copyRound(roundDeps, leases.copies),
    'voiding purchases without money': voidingRound(roundDeps, leases.voiding),
    'comparing payments': reconciliationRound(roundDeps, leases.reconciliation),
    'looking for notices': createNoticeRound(roundDeps, leases.notices),
    'looking for spikes': createSpikeRound(roundDeps, leases.spikes),
    'mailing notices': () => mail(roundDeps),
    'making digests': createDigestRound(roundDeps, leases.digests),
    'mailing digests': () => mailAllDigests(roundDeps),
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

/** The next pass follows at once while there are monitors to renew. */
async function renew(deps: RoundDeps): Promise<number> {
  return (await runRenewalPass(deps)) > 0 ? 0 : RENEWAL_INTERVAL_MS;
}

/** Gives back what reads cost that were answered 503, because the commit of their charge got no answer. */
async function reverse({ pool, logger }: RoundDeps): Promise<number> {
  for (const { accountId, kind, reference } of await reverseUnknownCharges(pool, REVERSED_AT_ONCE)) {
    logger.info({ account_id: accountId, kind, reference }, 'a charge was reversed');
  }
  return REVERSAL_INTERVAL_MS;
}

async function sweep(deps: RoundDeps, lease: Lease): Promise<number> {
  const mayContinue = () => lease.mayContinue();
  if (await mayContinue()) await sweepRetention({ ...deps, mayContinue });
  return SWEEP_INTERVAL_MS;
}

async function erase(deps: RoundDeps, lease: Lease): Promise<number> {
  const open = await countOpenErasures(deps.pool);
  deps.metrics.erasuresOpen.set(open);
  const mayContinue = () => lease.mayContinue();
  if (open > 0 && (await mayContinue())) await advanceErasures({ ...deps, mayContinue });
  return ERASURE_INTERVAL_MS;
}

/** After a check the lease stays taken until the UTC day ends, so that no process checks again before. */
async function compareLedger(deps: RoundDeps, lease: Lease): Promise<number> {
  const mayContinue = () => lease.mayContinue();
  if ((await mayContinue()) && (await checkLedger({ ...deps, mayContinue }))) {
    await lease.holdFor(await secondsUntilTomorrow(deps.pool));
  }
  return LEDGER_CHECK_INTERVAL_MS;
}

async function reportInstallation({ pool }: RoundDeps, lease: Lease, report: InstallationReport): Promise<number> {
  if (await lease.mayContinue()) await report.update(pool);
  else report.withdraw();
  return REPORT_INTERVAL_MS;
}

/** The next round follows at once while there are notices to mail. */
async function mail(deps: RoundDeps): Promise<number> {
  return (await mailNotices(deps, deps.signal)) > 0 ? 0 : MAIL_INTERVAL_MS;
}

/** The next round follows at once while there are digests to mail. */
async function mailAllDigests(deps: RoundDeps): Promise<number> {
  return (await mailDigests(deps, deps.signal)) > 0 ? 0 : MAIL_INTERVAL_MS;
}

/** The first round of a process that gets the lease compares everything. */
function copyRound(deps: RoundDeps, lease: Lease): () => Promise<number> {
  let fullAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const mayContinue = async () => !deps.signal.aborted && (await lease.mayContinue());
    if (!(await mayContinue())) {
      fullAt = Number.NEGATIVE_INFINITY;
      return COPY_INTERVAL_MS;
    }
    const now = performance.now();
    const isFull = now - fullAt >= FULL_COPY_MS;
    const isComplete = await copyTables({ ...deps, mayContinue }, { isFull });
    if (isFull && isComplete) fullAt = now;
    return COPY_INTERVAL_MS;
  };
}

/** A lease that cannot be released because Postgres is away ends by itself. */
async function release(lease: Lease): Promise<void> {
  await lease.release().catch((error: unknown) => {
    if (!isPostgresAway(error)) throw error;
  });
}
