import type { Queryable } from './pool.ts';

/** Values of synchronous_commit with which a commit waits until a synchronous standby has it on disk. */
const WAITING = new Set(['on', 'remote_apply']);

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
