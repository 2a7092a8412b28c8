import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { errorCode } from '../../../../shared/runtime/errors.ts';
import { serverUser } from './postgres-user.ts';
import { StartFault } from '../engine.ts';

/** A segment of the write-ahead log, or the history of a timeline. */
const LOG_FILE = /^(?<segment>[0-9A-F]{24})$|^[0-9A-F]{8}\.history$/;
const SLOT = 'backup';

/**
 * Copies a running embedded server into a folder, with the log from the copy's begin to its end, so that an engine
 * started on it has all that was committed when the copy ended. Services continue meanwhile.
 *
 * @param from the data directory of the running engine
 * @param to a folder that has no `postgres` yet
 * @throws Error when another backup of this server runs
 */
export async function backUpPostgres(url: string, from: string, to: string): Promise<void> {
  const [source, target] = [join(from, 'postgres'), join(to, 'postgres')];
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    // Temporary: it ends with this session, also when the process is killed.
    await client.query(`SELECT pg_create_physical_replication_slot($1, true, true)`, [SLOT]);
    const { label, endFile } = await copyCluster({ client, source, target, label: SLOT });
    const startFile = /\(file ([0-9A-F]{24})\)/.exec(label)?.[1] ?? '';
    copyLog(join(source, 'data/pg_wal'), join(target, 'data/pg_wal'), { startFile, endFile });
    writeFileSync(join(target, 'data/backup_label'), label, { mode: 0o600 });
  } finally {
    await client.end();
  }
}

function copyLog(from: string, to: string, { startFile, endFile }: { startFile: string; endFile: string }): void {
  for (const file of readdirSync(from)) {
    const parts = LOG_FILE.exec(file);
    const segment = parts?.groups?.['segment'];
    if (parts && (segment === undefined || (segment >= startFile && segment <= endFile))) {
      cpSync(join(from, file), join(to, file));
    }
  }
  for (const file of [startFile, endFile]) {
    if (!existsSync(join(to, file))) throw new Error(`the server no longer has the segment ${file} of its log`);
  }
}

/**
 * Copies a backup into a data directory that has no server yet. The engine that is started there replays the log.
 *
 * @throws StartFault when the data directory has a server
 */
export function restorePostgres(from: string, dataDir: string, env: NodeJS.ProcessEnv): void {
  const [source, target] = [join(from, 'postgres'), join(dataDir, 'postgres')];
  if (existsSync(target)) throw new StartFault(`${target} exists: a backup is restored into an empty DATA_DIR.`);
  const user = serverUser(join(target, 'data'), env);
  mkdirSync(target, { mode: 0o700 });
  cpSync(source, target, { recursive: true });
  user.own(target);
  for (const entry of readdirSync(target, { recursive: true, encoding: 'utf8' })) user.own(join(target, entry));
}

export interface ClusterCopy {
  /** Connected to the server whose files are copied, as a superuser. The session must be the only one of its client. */
  client: pg.Client;
  /** The `postgres` folders of two data directories; the target does not exist yet. */
  source: string;
  target: string;
  label: string;
}

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
  const { client, source, target } = copy;
  // The session must stay open until pg_backup_stop.
  await client.query(`SELECT pg_backup_start($1, fast => true)`, [copy.label]);
  mkdirSync(target, { mode: 0o700 });
  copyFile(join(source, 'password'), join(target, 'password'));
  copyFolder(join(source, 'data'), join(target, 'data'));
  const { rows } = await client.query<{ label: string; endFile: string }>(
    `SELECT labelfile AS label, pg_walfile_name(lsn) AS "endFile" FROM pg_backup_stop(wait_for_archive => false)`,
  );
  return rows[0]!;
}

function copyFile(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    // The server removes files while they are copied; its log says what became of them.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.has(entry.name)) continue;
    if (!entry.isDirectory()) copyFile(source, target);
    else if (EMPTY.has(entry.name)) mkdirSync(target, { mode: 0o700 });
    else copyFolder(source, target);
  }
}
