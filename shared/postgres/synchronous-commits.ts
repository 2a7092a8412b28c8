import type { Queryable } from './pool.ts';

/** Values of synchronous_commit with which a commit waits until a synchronous standby has it on disk. */
const WAITING = new Set(['on', 'remote_apply']);

/** Commits do not wait for a standby, or none is there to wait for. */
export class StandbyMissing extends Error {
  /** object_not_in_prerequisite_state: a condition that ends by itself or by an operator. */
  readonly code = '55000';
}

/**
 * Why the last commits can be lost with the server; undefined when each waits for a standby. Numbers of matches whose
 * commit is lost are given again, to other things, although programs may have read them.
 */
export async function whyCommitsCanBeLost(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ names: string; commit: string }>(
    `SELECT current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit`,
  );
  const { names = '', commit = '' } = rows[0] ?? {};
  if (names.trim() === '') return 'synchronous_standby_names is empty';
  if (!WAITING.has(commit)) return `synchronous_commit is ${commit}`;
  return undefined;
}

/**
 * How many standbys are connected that `synchronous_standby_names` lists; undefined where it lists none. A role without
 * pg_monitor does not see which standbys are listed, so all that are connected count.
 */
export async function countSynchronousStandbys(db: Queryable): Promise<number | undefined> {
  const { rows } = await db.query<{ standbys: number | null }>(
    `SELECT CASE WHEN trim(current_setting('synchronous_standby_names')) <> '' THEN (
       SELECT count(*) FROM pg_stat_replication WHERE coalesce(sync_state, '') <> 'async'
     ) END AS standbys`,
  );
  return rows[0]?.standbys ?? undefined;
}

/**
 * The commit of this transaction waits for the server's own disk, not for a standby. No limit of the server ends the
 * wait for a standby that is unavailable: its request gets no answer, and its connection stays taken.
 */
export async function commitLocally(db: Queryable): Promise<void> {
  await db.query(`SELECT set_config('synchronous_commit', 'local', true)`);
}
