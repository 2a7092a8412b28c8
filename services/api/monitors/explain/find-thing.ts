import type { ItemExplanation } from '../../../../schemas/api/monitors/explain.ts';
import type { ItemContent } from '../../../../schemas/messages/forum-item.ts';
import { isArchiveAway } from '../../../../shared/clickhouse/clickhouse-away.ts';
import { blankedContent } from '../../../../shared/domain/blanked-content.ts';
import type { MatchItem } from '../../../../shared/matching/rule.ts';
import type { ArchivedItem } from '../../../../shared/stores/archive/archived-item.ts';
import { findArchivedThing } from '../../../../shared/stores/matches/archived-items.ts';
import { readThingInMonitor } from '../../../../shared/stores/monitors/monitor-history.ts';
import type { ThingInMonitor } from '../../../../shared/stores/monitors/monitor-history.ts';
import { engineAway } from '../../http/api-error.ts';
import type { ExplainDeps } from './explain-deps.ts';

/** How long an answer waits for the archive, in milliseconds. */
const ARCHIVE_TIMEOUT_MS = 5_000;

/** A post or comment as it was first seen. Everything is undefined that is not known of it. */
export interface FoundThing extends Omit<ThingInMonitor, 'content'> {
  /** Blank when the forum removed it. */
  content: ItemContent | undefined;
  /** What matching sees of it. */
  item: MatchItem | undefined;
  archived: Pick<ArchivedItem, 'source' | 'firstSeenAt'> | undefined;
}

/**
 * Finds a thing in the archive, or else among what monitors matched: the archive gets it a few seconds later.
 *
 * @throws ApiError internal_error with 503 when the archive is away and nothing else is known of the thing
 */
export async function findThing(
  { pool, clickhouse }: Pick<ExplainDeps, 'pool' | 'clickhouse'>,
  monitorId: string,
  thingId: string,
  gone: AbortSignal | undefined,
): Promise<FoundThing> {
  const timeout = AbortSignal.timeout(ARCHIVE_TIMEOUT_MS);
  const signal = gone === undefined ? timeout : AbortSignal.any([gone, timeout]);
  const [stored, archived] = await Promise.all([
    readThingInMonitor(pool, monitorId, thingId),
    findArchivedThing(clickhouse, thingId, signal).catch((error: unknown) => {
      if (isArchiveAway(error) || timeout.aborted) return 'away' as const;
      throw error;
    }),
  ]);
  if (archived === 'away' && stored.content === undefined) {
    throw engineAway('The archive does not answer. Retry later.');
  }
  const known = archived === 'away' ? undefined : archived;
  const found = known?.content ?? stored.content;
  const content = found && stored.removedAt !== undefined ? blankedContent(found) : found;
  return { ...stored, content, item: content && matchItem(content, known?.language), archived: known };
}

function matchItem(content: ItemContent, language: string | undefined): MatchItem {
  const { kind, title, body: text, subreddit, author, nsfw, post_id: postId } = content;
  return { kind, title, text, subreddit, author, nsfw, postId, ...(language !== undefined && { language }) };
}

export function itemResource(content: ItemContent): NonNullable<ItemExplanation['item']> {
  const { thing_id, kind, subreddit, author, title, body, permalink, created_utc } = content;
  return { thing_id, kind, subreddit, author, title, body, permalink, created_utc };
}
