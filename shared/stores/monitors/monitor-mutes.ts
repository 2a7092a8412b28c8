import type { MuteKind } from '../../../schemas/api/monitors/monitor-mutes.ts';
import type { Queryable } from '../../postgres/pool.ts';

export interface StoredMute {
  id: string;
  kind: MuteKind;
  /** A name in lower case without prefix, or the id of a post with t3_. */
  value: string;
  createdAt: Date;
}

/** A monitor's mutes, oldest first. Their number is limited. */
export async function listMutes(db: Queryable, monitorId: string): Promise<StoredMute[]> {
  const { rows } = await db.query<StoredMute>(
    `SELECT id, kind, value, created_at AS "createdAt" FROM monitor_mutes WHERE monitor_id = $1 ORDER BY created_at, id`,
    [monitorId],
  );
  return rows;
}

/** Requires the monitor's lock, and that there is no equal mute. */
export async function insertMute(
  db: Queryable,
  monitorId: string,
  { id, kind, value }: Omit<StoredMute, 'createdAt'>,
): Promise<StoredMute> {
  const { rows } = await db.query<StoredMute>(
    `INSERT INTO monitor_mutes (id, monitor_id, kind, value) VALUES ($1, $2, $3, $4)
     RETURNING id, kind, value, created_at AS "createdAt"`,
    [id, monitorId, kind, value],
  );
  return rows[0]!;
}

/** Returns false when the monitor has no such mute. Requires the monitor's lock. */
export async function deleteMute(db: Queryable, monitorId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM monitor_mutes WHERE monitor_id = $1 AND id = $2', [monitorId, id]);
  return rowCount === 1;
}
