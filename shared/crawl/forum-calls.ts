import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

/** Calls of a lane within an hour. */
export interface LaneCalls {
  lane: string;
  /** Calls that were made. */
  taken: number;
  /** Times that a call was asked for and not made, because nothing was left for the lane. */
  refused: number;
}

export type HourCalls = LaneCalls & { hour: Date };

/** If the answer is lost, repeating it counts them twice. */
export async function addForumCalls(db: Queryable, calls: readonly HourCalls[]): Promise<void> {
  await execute(db)`
    INSERT INTO forum_calls AS c (hour, lane, taken, refused)
    SELECT hour, lane, sum(taken), sum(refused)
      FROM json_to_recordset(${JSON.stringify(calls)})
           AS added (hour timestamptz, lane text, taken bigint, refused bigint)
     GROUP BY hour, lane
     ORDER BY hour, lane COLLATE "C"
    ON CONFLICT (hour, lane) DO UPDATE
       SET taken = c.taken + excluded.taken, refused = c.refused + excluded.refused`;
}

/** The calls of the hours that begin from `from` until before `to`. */
export async function readForumCalls(db: Queryable, from: Date, to: Date): Promise<HourCalls[]> {
  return readRows<HourCalls>(db)`
    SELECT hour, lane, taken, refused FROM forum_calls WHERE hour >= ${from} AND hour < ${to} ORDER BY hour, lane`;
}
