import { randomUUID } from 'node:crypto';
import {
  BackfillLeaseLost,
  claimBackfill,
  hasBackfills,
  releaseBackfill,
  releaseFaultyBackfill,
  renewBackfillLease,
} from '../../shared/backfills/backfills.ts';
import type { ClaimedBackfill } from '../../shared/backfills/backfills.ts';
import { GroupProgressUnavailable } from '../../shared/kafka/group-progress.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import { CooperativeYield, delay } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import { OutageLog, unavailableEngine } from '../../shared/runtime/outage-log.ts';
import { runBackfill } from './run-backfill.ts';
import type { BackfillDeps, RunDeps, SliceEnd } from './run-backfill.ts';

/** Runs under way at once in a process. */
const WORKERS = 2;
const POLL_MS = 1_000;
const LEASE_SECONDS = 30;
/** A lease is renewed this often while it lasts. */
const RENEWALS = 4;
/** Seconds until the archive is checked again while it is behind. */
const NOT_SETTLED_SECONDS = 0.5;
/** Waits while an engine is unavailable. */
const BACK_OFF_MS = { least: 1_000, most: 30_000 };
const FAULT_SECONDS = 10;
/** A run that an error of ours stops this often without any progress is given up. */
const MOST_FAULTS = 3;

/**
 * Works on the runs of backfills, two at a time. Any number of processes do this side by side: a run is leased, and its
 * progress is committed with its matches, so that another process goes on where a killed one ended.
 *
 * An engine that is unavailable is waited for. Any other error fails only the run that it stops: a run must not end the
 * process that records live matches.
 */
export function startBackfills(deps: BackfillDeps): Running {
  const logger = deps.logger.child({ work: 'backfills' });
  const stopping = new AbortController();
  const { signal } = stopping;
  const runDeps = {
    leaseSeconds: LEASE_SECONDS,
    matcherShards: 1,
    ...deps,
    logger,
    signal,
    cooperativeYield: new CooperativeYield(),
  };
  const { metrics } = deps;
  // A worker that finds no run says nothing about the engines that runs need.
  const outages = {
    claiming: new OutageLog({ work: 'taking up backfills', logger, metrics }),
    working: new OutageLog({ work: 'backfills', logger, metrics }),
  };
  const workers = Array.from({ length: WORKERS }, () => work(runDeps, outages));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(workers);
    },
  };
}

interface Outages {
  claiming: OutageLog;
  working: OutageLog;
}

async function work(deps: RunDeps, outages: Outages): Promise<void> {
  const { signal } = deps;
  const stopped = new Promise<boolean>((resolve) => {
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
  if (!(await Promise.race([deps.archiveReady, stopped]))) return;
  let backOffMs = BACK_OFF_MS.least;
  while (!signal.aborted) {
    let outage = outages.claiming;
    let waitMs = POLL_MS;
    try {
      const run = await claim(deps);
      outage.recovered();
      if (run !== undefined) {
        outage = outages.working;
        await workOn(deps, run);
        outage.recovered();
        backOffMs = BACK_OFF_MS.least;
        waitMs = 0;
      }
    } catch (error) {
      if (hasStopped(signal)) return;
      outage.failed(error);
      waitMs = backOffMs;
      backOffMs = Math.min(2 * backOffMs, BACK_OFF_MS.most);
    }
    await delay(waitMs, signal);
  }
}

async function claim({ pool, leaseSeconds }: RunDeps): Promise<ClaimedBackfill | undefined> {
  if (!(await hasBackfills(pool))) return undefined;
  return inTransaction(pool, (client) => claimBackfill(client, randomUUID(), leaseSeconds));
}

/** Read again after an await. */
function hasStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Works on a claimed run for a time slice. @throws what engines throw when they are unavailable */
async function workOn(deps: RunDeps, run: ClaimedBackfill): Promise<void> {
  try {
    const sliceEnd = await withLease(deps, run, (signal) => runBackfill({ ...deps, signal }, run));
    await settle(deps, run, sliceEnd);
  } catch (error) {
    await releaseAfterError(deps, run, error);
  }
}

async function settle({ pool, logger, metrics }: RunDeps, run: ClaimedBackfill, sliceEnd: SliceEnd): Promise<void> {
  if (sliceEnd === 'slice_over' || sliceEnd === 'not_settled') {
    await releaseBackfill(pool, run, sliceEnd === 'not_settled' ? NOT_SETTLED_SECONDS : 0);
    return;
  }
  metrics.backfillsEnded.inc({ state: sliceEnd });
  logger.info({ backfill: run.id, monitor_id: run.monitorId, state: sliceEnd }, 'a backfill ended');
}

async function releaseAfterError(deps: RunDeps, run: ClaimedBackfill, error: unknown): Promise<void> {
  const { pool, logger, metrics, signal } = deps;
  if (error instanceof BackfillLeaseLost) {
    logger.info({ err: error, backfill: run.id }, 'another process took a backfill, or it was deleted');
    return;
  }
  if (signal.aborted || unavailableEngine(error) !== undefined || error instanceof GroupProgressUnavailable) {
    // The lease of a run that cannot be released ends by itself.
    await releaseBackfill(pool, run, 0).catch(() => undefined);
    throw error;
  }
  const failed = await releaseFaultyBackfill(pool, run, { seconds: FAULT_SECONDS, most: MOST_FAULTS });
  if (failed) metrics.backfillsEnded.inc({ state: 'failed' });
  logger.error({ err: error, backfill: run.id, failed }, 'an error stopped a backfill');
}

/** Keeps the lease while `job` runs, and aborts its signal when the lease is lost or the process stops. */
async function withLease<T>(deps: RunDeps, run: ClaimedBackfill, job: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const finished = new AbortController();
  const lost = new AbortController();
  const renewing = renewUntil(deps, run, finished.signal, lost);
  try {
    return await job(AbortSignal.any([deps.signal, lost.signal]));
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    finished.abort();
    await renewing;
  }
}

async function renewUntil(
  { pool, leaseSeconds }: RunDeps,
  run: ClaimedBackfill,
  finished: AbortSignal,
  lost: AbortController,
): Promise<void> {
  for (;;) {
    await delay((1_000 * leaseSeconds) / RENEWALS, finished);
    if (finished.aborted) return;
    // While Postgres is unavailable the work fails by itself.
    const isKept = await renewBackfillLease(pool, run, leaseSeconds).catch(() => true);
    if (!isKept) lost.abort(new BackfillLeaseLost(`the lease of ${run.id} was lost`));
  }
}
