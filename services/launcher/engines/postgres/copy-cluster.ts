import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { errorCode } from '../../../../shared/runtime/errors.ts';
import type { ServerUser } from './postgres-user.ts';

export interface ClusterCopy {
  /** Connected to the server whose files are copied, as a superuser. The session must be the only one of its client. */
  client: pg.Client;
  /** The `postgres` folders of two data directories; the target does not exist yet. */
  source: string;
  target: string;
  /** Of the backup, for the server's log. */
  label: string;
  /** Who owns the copy. */
  user: Pick<ServerUser, 'own'>;
}

/** Folders of which a restored server makes its own content. */
const EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts', 'backup_label', 'standby.signal']);

/**
 * Copies a running server's files between pg_backup_start and pg_backup_stop, as the chapter "Continuous Archiving" of
 * PostgreSQL's manual describes; the embedded PostgreSQL has no pg_basebackup. The write-ahead log is not copied: a
 * slot of the caller keeps what the copy needs of it.
 *
 * @returns the content of the copy's backup_label, and where its log ends
 */
export async function copyCluster(copy: ClusterCopy): Promise<{ label: string; endFile: string }> {
  const { client, source, target, user } = copy;
  // The session must stay open until pg_backup_stop.
  await client.query(`SELECT pg_backup_start($1, fast => true)`, [copy.label]);
  makeFolder(target, user);
  copyFile(join(source, 'password'), join(target, 'password'), user);
  copyFolder(join(source, 'data'), join(target, 'data'), user);
  const { rows } = await client.query<{ label: string; endFile: string }>(
    `SELECT labelfile AS label, pg_walfile_name(lsn) AS "endFile" FROM pg_backup_stop(wait_for_archive => false)`,
  );
  return rows[0]!;
}

function makeFolder(path: string, user: ClusterCopy['user']): void {
  mkdirSync(path, { mode: 0o700 });
  user.own(path);
}

function copyFile(from: string, to: string, user: ClusterCopy['user']): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    // The server removes files while they are copied; its log says what became of them.
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  user.own(to);
}

function copyFolder(from: string, to: string, user: ClusterCopy['user']): void {
  makeFolder(to, user);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.has(entry.name)) continue;
    if (!entry.isDirectory()) copyFile(source, target, user);
    else if (EMPTY.has(entry.name)) makeFolder(target, user);
    else copyFolder(source, target, user);
  }
}
