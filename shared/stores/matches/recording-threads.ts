import type { Queryable } from '../../postgres/pool.ts';

/** A thread of a monitor on a UTC day. */
export interface ThreadOfDay {
  /** YYYY-MM-DD. */
  day: string;
  monitorId: string;
  /** Without t3_. */
  postId: string;
}

/**
 * Finds which of the given threads had an unsuppressed match of their monitor on that day. Only monitors with
 * thread_once have any.
 */
export async function findThreadsOfDay(db: Queryable, threads: readonly ThreadOfDay[]): Promise<ThreadOfDay[]> {
  const { rows } = await db.query<ThreadOfDay>({
    name: 'recording-find-threads-of-day',
    text: `
      SELECT t.day::text, t.monitor_id AS "monitorId", t.post_id AS "postId"
      FROM unnest($1::date[], $2::text[], $3::text[]) AS asked (day, monitor_id, post_id)
      JOIN monitor_threads t ON t.day = asked.day AND t.monitor_id = asked.monitor_id AND t.post_id = asked.post_id`,
    values: columnsOf(threads),
  });
  return rows;
}

/** Stores threads that have had their match of the day. @param threads sorted by day, monitor and post, each once */
export async function insertThreadsOfDay(db: Queryable, threads: readonly ThreadOfDay[]): Promise<void> {
  await db.query({
    name: 'recording-insert-threads-of-day',
    text: `
      INSERT INTO monitor_threads (day, monitor_id, post_id)
      SELECT * FROM unnest($1::date[], $2::text[], $3::text[])`,
    values: columnsOf(threads),
  });
}

function columnsOf(threads: readonly ThreadOfDay[]): [string[], string[], string[]] {
  return [
    threads.map(({ day }) => day),
    threads.map(({ monitorId }) => monitorId),
    threads.map(({ postId }) => postId),
  ];
}
