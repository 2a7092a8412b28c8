import type { Queryable } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';

/** What a mute of a monitor would have to be. */
export interface AskedMute {
  monitorId: string;
  kind: 'subreddit' | 'author' | 'thread';
  /** As it is stored: a name in lower case, a post's id with t3_. */
  value: string;
}

/**
 * Finds which of the given mutes exist. Run it after the monitors' lock: whoever adds or deletes a mute takes the lock
 * first.
 */
export async function findMutes(db: Queryable, asked: readonly AskedMute[]): Promise<AskedMute[]> {
  // LIMIT keeps it at a probe of the primary key for each, however many mutes there are.
  return readRows<AskedMute>(db, 'recording-find-mutes')`
    SELECT asked.monitor_id AS "monitorId", asked.kind, asked.value
    FROM unnest(${asked.map(({ monitorId }) => monitorId)}::text[], ${asked.map(({ kind }) => kind)}::text[],
      ${asked.map(({ value }) => value)}::text[]) AS asked (monitor_id, kind, value)
    CROSS JOIN LATERAL (
      SELECT FROM monitor_mutes u
      WHERE u.monitor_id = asked.monitor_id AND u.kind = asked.kind AND u.value = asked.value
      LIMIT 1
    ) AS mute`;
}
