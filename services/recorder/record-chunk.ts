import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import type { Candidate, RecordedMatch } from '../../schemas/messages/monitor-match.ts';
import type { ArchivePosition } from '../../shared/archive/archived-candidates.ts';
import { isBackfillCancelled, saveBackfillProgress } from '../../shared/backfills/backfills.ts';
import type { BackfillProgress, ClaimedBackfill } from '../../shared/backfills/backfills.ts';
import { backfillCredits, backfillRoom, numberBackfilled } from '../../shared/backfills/rules/backfill-numbering.ts';
import type { BackfillStop } from '../../shared/backfills/rules/backfill-numbering.ts';
import { charge } from '../../shared/billing/ledger.ts';
import { lockPayingAccounts } from '../../shared/billing/renewals.ts';
import {
  addToMonitorDays,
  advanceCounters,
  insertMatches,
  insertThreadsOfDay,
  lockRecordingMonitors,
  recordedMatchOf,
} from '../../shared/matches/recording.ts';
import type { NumberedBatch } from '../../shared/matches/rules/match-decision.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { countersOf, pairKey, readLockedState, toAccepted } from './record-under-lock.ts';
import type { LockedState } from './record-under-lock.ts';

/** The most rows under one lock: limits how long live numbering of the monitor waits. */
export const CHUNK = 500;

export interface FoundItem {
  candidate: Candidate;
  position: ArchivePosition;
}

export interface RecordedChunk {
  progress: BackfillProgress;
  matches: RecordedMatch[];
  /** How the run must end; undefined: it goes on. */
  stop: BackfillStop | 'cancelled' | undefined;
}

/** A part of what was found, with the contents as they were first stored, before. */
export interface FoundChunk {
  /** At most CHUNK, in the order of their positions. */
  found: readonly FoundItem[];
  contents: ReadonlyMap<string, ItemContent>;
  /** Up to which everything is decided afterwards, unless the run must end. */
  position: ArchivePosition;
}

/**
 * Records what was found in one part of the archive: matches, counters, the charge and the run's progress in one
 * transaction. A crash before its commit leaves contents without a match, which expire; a repeat finds the pairs of an
 * earlier commit and passes over them, free of charge.
 *
 * @throws BackfillLeaseLost
 */
export async function recordChunk(
  pool: Pool,
  run: ClaimedBackfill,
  { found, contents, position }: FoundChunk,
): Promise<RecordedChunk> {
  const candidates = found.map(({ candidate }) => candidate);
  const { numbered, ...recorded } = await inTransaction(pool, async (client) => {
    // 1. The monitor's lock, then its state, then the account: the lock order of all services.
    await lockRecordingMonitors(client, [run.monitorId]);
    const state = await readLockedState(client, [run.monitorId], candidates);
    const monitor = state.monitors.get(run.monitorId);
    const [account] = await lockPayingAccounts(client, [run.accountId]);
    const isCancelled = await isBackfillCancelled(client, run);
    if (isCancelled || !monitor || monitor.status === 'deleted' || account?.status !== 'active') {
      return { progress: run, stop: 'cancelled' as const, numbered: undefined };
    }
    // 2. Decide and number.
    const decided = decide(run, { found, state, position, balance: account.balance });
    const accepted = decided.fresh.map(toAccepted);
    const threads = state.threadsOfDay.get(run.monitorId);
    const numbered = numberBackfilled(countersOf(monitor, threads), accepted, run.deliver);
    const progress = progressAfter(run, decided, numbered);
    // 3. Charge, write, and save the progress.
    await pay(client, run, progress.credits - run.credits);
    if (numbered.matches.length > 0) await write(client, run.monitorId, numbered);
    await saveBackfillProgress(client, run, progress);
    return { progress, stop: decided.stop, numbered };
  });
  const matches = numbered?.matches.map((match) => recordedMatchOf(match, contents)) ?? [];
  return { ...recorded, matches };
}

interface Decided {
  fresh: Candidate[];
  alreadyKnown: number;
  position: ArchivePosition | undefined;
  stop: BackfillStop | undefined;
}

/** Goes through what was found until the run may have no more matches. */
function decide(
  run: ClaimedBackfill,
  {
    found,
    state,
    position,
    balance,
  }: { found: readonly FoundItem[]; state: LockedState; position: ArchivePosition; balance: number },
): Decided {
  const { room, stop } = backfillRoom({ ...run, balance });
  const fresh: Candidate[] = [];
  let alreadyKnown = 0;
  let decided = run.position;
  for (const item of found) {
    if (state.stored.has(pairKey(run.monitorId, item.candidate.item.thing_id))) alreadyKnown += 1;
    else if (!state.isMuted(item.candidate)) {
      if (fresh.length >= room) return { fresh, alreadyKnown, position: decided, stop };
      fresh.push(item.candidate);
    }
    decided = item.position;
  }
  return { fresh, alreadyKnown, position, stop: undefined };
}

function progressAfter(run: ClaimedBackfill, decided: Decided, { matches, advance }: NumberedBatch): BackfillProgress {
  const total = run.matches + matches.length;
  return {
    position: decided.position,
    matches: total,
    delivered: run.delivered + advance.matches,
    alreadyKnown: run.alreadyKnown + decided.alreadyKnown,
    credits: backfillCredits(total),
    firstSeq: run.firstSeq ?? matches[0]?.seq,
    lastSeq: matches.at(-1)?.seq ?? run.lastSeq,
    publishedSeq: run.publishedSeq,
  };
}

async function pay(db: Queryable, run: ClaimedBackfill, credits: number): Promise<void> {
  if (credits === 0) return;
  const { accountId, request } = run;
  const reference = `${run.id}:${run.credits + credits}`;
  const balance = await charge(db, { accountId, kind: 'backfill', credits, reference, request });
  if (balance === undefined) throw new Error(`the locked account ${accountId} does not cover ${credits} credits`);
}

async function write(db: Queryable, monitorId: string, { matches, advance, threads }: NumberedBatch): Promise<void> {
  // Only what is delivered counts as a match of the day.
  if (advance.matches > 0) await addToMonitorDays(db, [advance]);
  await advanceCounters(db, [advance]);
  await insertMatches(db, matches);
  if (threads.length === 0) return;
  const { day } = advance;
  await insertThreadsOfDay(
    db,
    [...threads].sort().map((postId) => ({ day, monitorId, postId })),
  );
}
