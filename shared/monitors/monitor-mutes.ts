import type { MuteKind } from '../../schemas/api/monitors.ts';
import type { Queryable } from '../postgres/pool.ts';
import { isChanged, readOne, readRows } from '../postgres/sql.ts';

export interface StoredMute {
  id: string;
  kind: MuteKind;
  /** A name in lower case without prefix, or the id of a post with t3_. */
  value: string;
  createdAt: Date;
}

/** Oldest first. Their number is limited. */
export async function listMutes(db: Queryable, monitorId: string): Promise<StoredMute[]> {
  return readRows<StoredMute>(db)`
    SELECT id, kind, value,
      created_at AS "createdAt" FROM monitor_mutes WHERE monitor_id = ${monitorId} ORDER BY created_at, id`;
}

/** Requires the monitor's lock, and that there is no equal mute. */
export async function insertMute(
  db: Queryable,
  monitorId: string,
  { id, kind, value }: Omit<StoredMute, 'createdAt'>,
): Promise<StoredMute> {
  return readOne<StoredMute>(db)`
    INSERT INTO monitor_mutes (id, monitor_id, kind, value) VALUES (${id}, ${monitorId}, ${kind}, ${value})
    RETURNING id, kind, value, created_at AS "createdAt"`;
}

/** Returns false when the monitor has no such mute. Requires the monitor's lock. */
export async function deleteMute(db: Queryable, monitorId: string, id: string): Promise<boolean> {
  return isChanged(db)`DELETE FROM monitor_mutes WHERE monitor_id = ${monitorId} AND id = ${id}`;
}

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
