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
