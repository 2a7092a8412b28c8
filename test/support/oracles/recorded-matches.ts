import { matchId } from '../../../shared/rules/identifiers.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';

/** A match as it is stored. */
export interface Recorded {
  id: string;
  monitorId: string;
  seq: number;
  thingId: string;
  /** The broker's time, in milliseconds since the epoch. */
  enteredAt: number;
  /** When the recorder stored it, in Postgres's time, in milliseconds since the epoch. */
  recordedAt: number;
  suppressed: boolean;
}

/** All matches of these monitors, each monitor's by seq. */
export async function readRecorded(pool: Pool, monitors: readonly string[]): Promise<Recorded[]> {
  const { rows } = await pool.query<{
    monitor_id: string;
    seq: number;
    thing_id: string;
    at: Date;
    created_at: Date;
    suppressed: boolean;
  }>(
    `SELECT monitor_id, seq, thing_id, entered_at AS at, created_at, suppressed FROM matches WHERE monitor_id = ANY ($1)
     ORDER BY monitor_id, seq`,
    [monitors],
  );
  return rows.map(({ monitor_id, seq, thing_id, at, created_at, suppressed }) => ({
    id: matchId(monitor_id, seq),
    monitorId: monitor_id,
    seq,
    thingId: thing_id,
    enteredAt: at.getTime(),
    recordedAt: created_at.getTime(),
    suppressed,
  }));
}
