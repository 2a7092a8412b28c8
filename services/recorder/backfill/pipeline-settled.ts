import { ITEMS_ARCHIVER_GROUP, matcherGroups, RECORDER_GROUP } from '../../../schemas/messages/consumer-groups.ts';
import { FORUM_COMMENTS, FORUM_POSTS, MONITOR_CANDIDATES } from '../../../schemas/messages/topics.ts';
import { hasFinished, readGroupProgress } from '../../../shared/kafka/group-progress.ts';
import type { ClaimedBackfill } from '../../../shared/stores/backfills/backfill-claims.ts';
import { storeAwaitedOffsets } from '../../../shared/stores/backfills/backfill-progress.ts';
import type { RunDeps } from './backfill-deps.ts';

const ITEMS = [FORUM_POSTS.name, FORUM_COMMENTS.name];

/**
 * Whether the archive may be read for a run: everything that had entered when the run was first taken up is in the
 * archive, so that no hole is left between the archive and what the monitor matches live; and is recorded if it matches
 * live, so that the backfill does not record it first, as something that is not delivered. The heads of the topics are
 * stored with the run: once reached, they stay reached.
 *
 * @throws GroupProgressUnreadable, BackfillLeaseLost
 */
export async function isPipelineSettled(
  { kafka, prefix, pool, matcherShards }: Pick<RunDeps, 'kafka' | 'prefix' | 'pool' | 'matcherShards'>,
  run: ClaimedBackfill,
): Promise<boolean> {
  const progressOf = (group: string, topics: readonly string[]) => readGroupProgress(kafka, prefix, { group, topics });
  const archiver = await progressOf(ITEMS_ARCHIVER_GROUP, ITEMS);
  let { awaited } = run;
  if (awaited === undefined) {
    awaited = { items: archiver.heads };
    await storeAwaitedOffsets(pool, run, awaited);
    run.awaited = awaited;
  }
  if (!hasFinished(awaited.items, archiver)) return false;
  for (const group of matcherGroups(matcherShards)) {
    if (!hasFinished(awaited.items, await progressOf(group, ITEMS))) return false;
  }
  const recorder = await progressOf(RECORDER_GROUP, [MONITOR_CANDIDATES.name]);
  if (awaited.candidates === undefined) {
    run.awaited = { ...awaited, candidates: recorder.heads };
    await storeAwaitedOffsets(pool, run, run.awaited);
  }
  return hasFinished(run.awaited?.candidates ?? {}, recorder);
}
