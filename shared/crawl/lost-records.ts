import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

export interface LostRecords {
  group: string;
  /** Without the prefix. */
  topic: string;
  partition: number;
  /** The first one's offset, and that of the first record after them; equal: nobody knows how many there were. */
  from: bigint;
  to: bigint;
}

/** When what is lost was appended, in milliseconds since 1970. */
export interface LostTimes {
  /** The last record before; undefined when that is not known. */
  afterMs: number | undefined;
  /** The first record after. */
  beforeMs: number;
}

/**
 * Notes what a group lost. Noting a stretch again, even if it has grown, changes its end.
 *
 * @param times given by matchers: the archive may have these items, so that coverage counts them as seen, but nobody
 * was told about them. So there is a gap of them, too, which nothing can fill.
 */
export async function noteLostRecords(db: Queryable, lost: LostRecords, times?: LostTimes): Promise<void> {
  const { group, topic, partition, from, to } = lost;
  await execute(db)`
    WITH noted AS (
      INSERT INTO lost_records AS l (consumer_group, topic, partition, from_offset, to_offset, noticed_at)
      VALUES (${group}, ${topic}, ${partition}, ${String(from)}, ${String(to)}, service_now())
      ON CONFLICT (consumer_group, topic, partition, from_offset)
        DO UPDATE SET to_offset = greatest(l.to_offset, excluded.to_offset), noticed_at = excluded.noticed_at
    )
    INSERT INTO crawl_gaps (source, reason, after_at, before_at, opened_at, filled_at, outcome)
    SELECT ${group}, 'expired', to_timestamp(${times?.afterMs}::float8 / 1000),
           to_timestamp(${times?.beforeMs}::float8 / 1000), now, now, 'given_up'
      FROM (SELECT service_now() AS now) AS clock
     WHERE ${times?.beforeMs}::float8 IS NOT NULL
       AND NOT EXISTS (SELECT FROM lost_records
                        WHERE consumer_group = ${group} AND topic = ${topic}
                          AND partition = ${partition} AND from_offset = ${String(from)})`;
}

/** How many records each group lost of each topic, as noticed in the last 24 hours; 1 where nobody knows how many. */
export async function countLostRecords(db: Queryable): Promise<{ group: string; topic: string; records: number }[]> {
  return readRows<{ group: string; topic: string; records: number }>(db)`
    SELECT consumer_group AS "group", topic, sum(greatest(1, to_offset - from_offset))::float8 AS records
      FROM lost_records WHERE noticed_at > (SELECT service_now()) - interval '24 hours'
     GROUP BY consumer_group, topic`;
}
