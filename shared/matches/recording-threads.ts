import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

export interface ThreadOfDay {
  /** YYYY-MM-DD. */
  day: string;
  monitorId: string;
  /** Without t3_. */
  postId: string;
}

/** Those that had an unsuppressed match of their monitor on that day. Only monitors with thread_once have any. */
export async function findThreadsOfDay(db: Queryable, threads: readonly ThreadOfDay[]): Promise<ThreadOfDay[]> {
  return readRows<ThreadOfDay>(db, 'recording-find-threads-of-day')`
    SELECT t.day::text, t.monitor_id AS "monitorId", t.post_id AS "postId"
    FROM unnest(${threads.map(({ day }) => day)}::date[], ${threads.map(({ monitorId }) => monitorId)}::text[],
      ${threads.map(({ postId }) => postId)}::text[]) AS asked (day, monitor_id, post_id)
    JOIN monitor_threads t ON t.day = asked.day AND t.monitor_id = asked.monitor_id AND t.post_id = asked.post_id`;
}

/** Stores threads that have had their match of the day. @param threads sorted by day, monitor and post, each once */
export async function insertThreadsOfDay(db: Queryable, threads: readonly ThreadOfDay[]): Promise<void> {
  await execute(db, 'recording-insert-threads-of-day')`
    INSERT INTO monitor_threads (day, monitor_id, post_id)
    SELECT * FROM unnest(${threads.map(({ day }) => day)}::date[],
      ${threads.map(({ monitorId }) => monitorId)}::text[], ${threads.map(({ postId }) => postId)}::text[])`;
}
