import type { Pool } from '../postgres/pool.ts';
import { inTransaction } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

/**
 * More than a monitor can have numbered since any backup: 11,000 live matches a day, and 50,000 a backfill. There is
 * room for 100,000 restorations before match ids need a 13th digit.
 */
export const NUMBERS_SKIPPED = 10_000_000;

/** The oldest part of the names that a listing's position holds stays: the last 500, so at least 400 are read again. */
const NAMES_KEPT = 1 / 5;
/** Longer than from the broker to PostgreSQL. */
const SET_BACK_MS = 60_000;

/** The positions of listings and of their groups (services/crawler), as far as they matter here. */
interface ListingPosition {
  anchors?: string[];
  newestAt?: number;
  groups?: { at: number }[];
  rest?: number;
  slow?: number;
}

/**
 * Prepares a database that was restored from a backup for the services. Repeating it skips more numbers and reads more
 * of the listings again.
 *
 * - Raises every counter, so that nothing new gets a number that the lost database gave after the backup: the seq of
 *   each monitor's matches, and all identity columns.
 * - Sets the positions of listings back. They had passed what the broker had when the backup was taken, and what was
 *   still on its way to PostgreSQL may be lost with the broker.
 *
 * Run it before the first service starts. @returns how many monitors there are
 */
export function prepareRestored(pool: Pool): Promise<number> {
  return inTransaction(pool, async (client) => {
    const monitors = await execute(client)`UPDATE monitor_counters SET last_seq = last_seq + ${NUMBERS_SKIPPED}`;
    await execute(client)`
      SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + ${NUMBERS_SKIPPED})
      FROM pg_sequences WHERE schemaname = current_schema()`;
    const cursors = await readRows<{ source: string; position: ListingPosition }>(client)`
      SELECT source, position FROM crawl_cursors
      WHERE starts_with(source, 'listings:') AND jsonb_typeof(position) = 'object' FOR UPDATE`;
    for (const { source, position } of cursors) {
      await execute(client)`UPDATE crawl_cursors SET position = ${setBack(position)} WHERE source = ${source}`;
    }
    return monitors;
  });
}

function setBack({ anchors, groups, ...position }: ListingPosition): ListingPosition {
  const earlier = { ...position };
  for (const name of ['newestAt', 'rest', 'slow'] as const) {
    if (earlier[name] !== undefined) earlier[name] -= SET_BACK_MS;
  }
  return {
    ...earlier,
    ...(anchors && { anchors: anchors.slice(0, Math.ceil(anchors.length * NAMES_KEPT)) }),
    ...(groups && { groups: groups.map((group) => ({ ...group, at: group.at - SET_BACK_MS })) }),
  };
}
