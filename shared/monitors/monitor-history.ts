import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import type { SuppressedReason } from '../../schemas/messages/monitor-match.ts';
import type { Rule } from '../matching/rule.ts';
import type { Queryable } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';

/** Times are real (wall_now). Ascending, as far as they are kept: 30 days, and at most 1,000 versions. */
export interface MonitorHistory {
  versions: { version: number; since: Date; rule: Rule | null }[];
  states: { at: Date; status: string }[];
}

/** So that a rule that changed very often does not make each question about its monitor slow. */
const MAX_VERSIONS = 1_000;

export async function readMonitorHistory(db: Queryable, monitorId: string): Promise<MonitorHistory> {
  const versions = await readRows<MonitorHistory['versions'][number]>(db)`
    SELECT version, since, rule
    FROM (SELECT * FROM monitor_versions WHERE monitor_id = ${monitorId} ORDER BY version DESC LIMIT ${MAX_VERSIONS})
      AS latest
    ORDER BY version`;
  const states = await readRows<MonitorHistory['states'][number]>(db)`
    SELECT at, status FROM monitor_states WHERE monitor_id = ${monitorId} ORDER BY at`;
  return { versions, states };
}

/** What Postgres knows about an item and a monitor. */
export interface ItemInMonitor {
  /** The match of the item. */
  match:
    | {
        seq: number;
        enteredAt: Date;
        firstSeenAt: Date;
        createdAt: Date;
        suppressed: boolean;
        suppressedReason: SuppressedReason | null;
        backfill: boolean;
      }
    | undefined;
  /** As it was first matched, by any monitor. */
  content: ItemContent | undefined;
  removedAt: Date | undefined;
}

export async function readItemInMonitor(db: Queryable, monitorId: string, thingId: string): Promise<ItemInMonitor> {
  const matches = await readRows<NonNullable<ItemInMonitor['match']>>(db)`
    SELECT seq, entered_at AS "enteredAt", first_seen_at AS "firstSeenAt", created_at AS "createdAt", suppressed,
           suppressed_reason AS "suppressedReason", backfill
    FROM matches WHERE monitor_id = ${monitorId} AND thing_id = ${thingId}`;
  const contents = await readRows<Omit<ItemContent, 'created_utc'> & { created_utc: Date }>(db)`
    SELECT thing_id, kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw, created_utc
    FROM matched_items WHERE thing_id = ${thingId}`;
  const removals = await readRows<{ at: Date }>(db)`SELECT at FROM removed_things WHERE thing_id = ${thingId}`;
  const [content] = contents;
  return {
    match: matches[0],
    content: content && { ...content, created_utc: content.created_utc.toISOString() },
    removedAt: removals[0]?.at,
  };
}

/** Matches of the UTC day of `at` that were counted without being stored. */
export async function hasUnstoredMatches(db: Queryable, monitorId: string, at: Date): Promise<boolean> {
  const rows = await readRows<{ unstored: boolean }>(db)`
    SELECT suppressed_not_stored > 0 AS unstored FROM monitor_days
    WHERE monitor_id = ${monitorId} AND day = (${at}::timestamptz AT TIME ZONE 'UTC')::date`;
  return rows[0]?.unstored === true;
}

/** Ids of the active monitors after `after` whose spikes are sent to their webhook, ascending. */
export async function listSpikeWatchers(db: Queryable, after: string, limit: number): Promise<string[]> {
  const rows = await readRows<{ id: string }>(db)`
    SELECT id FROM monitors
    WHERE spike_webhook AND status = 'active' AND webhook_url IS NOT NULL AND id > ${after}
    ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
