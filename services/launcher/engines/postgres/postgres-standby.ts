import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { errorCode } from '../../../../shared/runtime/errors.ts';
import { serverUser } from './postgres-user.ts';
import type { ServerUser } from './postgres-user.ts';

export interface StandbyCopy {
  /** The URL of the primary, a superuser's. */
  primaryUrl: string;
  /** The data directories of the two engines, each with its `postgres` folder. */
  from: string;
  to: string;
  /** Of the standby in pg_stat_replication and synchronous_standby_names, and of its slot: lower-case letters. */
  name: string;
  env: NodeJS.ProcessEnv;
}

/** Folders of which the standby makes its own content. */
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
 * Copies a running server's files, so that an engine which is started on the copy is a streaming standby. The embedded
 * PostgreSQL has no pg_basebackup, so the copy is made between pg_backup_start and pg_backup_stop, as the chapter
 * "Continuous Archiving" of PostgreSQL's manual describes; a replication slot keeps the log that the standby needs.
 * Does nothing when the copy was made before.
 */
export async function copyAsStandby({ primaryUrl, from, to, name, env }: StandbyCopy): Promise<void> {
  const [source, target] = [join(from, 'postgres'), join(to, 'postgres')];
  if (existsSync(join(target, 'data', 'PG_VERSION'))) return;
  const user = serverUser(join(source, 'data'), env);
  const client = new pg.Client({ connectionString: primaryUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query(
      `SELECT pg_create_physical_replication_slot($1, true)
       WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1)`,
      [name],
    );
    // The session must stay open until pg_backup_stop.
    await client.query(`SELECT pg_backup_start($1, fast => true)`, [name]);
    makeFolder(target, user);
    copyFile(join(source, 'password'), join(target, 'password'), user);
    copyFolder(join(source, 'data'), join(target, 'data'), user);
    const { rows } = await client.query<{ label: string }>(
      `SELECT labelfile AS label FROM pg_backup_stop(wait_for_archive => false)`,
    );
    const write = (file: string, text: string) => {
      const path = join(target, 'data', file);
      writeFileSync(path, text, { flag: 'a', mode: 0o600 });
      user.own(path);
    };
    write(
      'postgresql.auto.conf',
      `primary_conninfo = '${connectionInfo(primaryUrl, name)}'\nprimary_slot_name = '${name}'\n`,
    );
    write('standby.signal', '');
    write('backup_label', rows[0]!.label);
  } finally {
    await client.end();
  }
}

function connectionInfo(url: string, name: string): string {
  const { hostname, port, username, password } = new URL(url);
  return `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)} application_name=${name}`;
}

function makeFolder(path: string, user: ServerUser): void {
  mkdirSync(path, { mode: 0o700 });
  user.own(path);
}

function copyFile(from: string, to: string, user: ServerUser): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    // The server removes files while they are copied; its log says what became of them.
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  user.own(to);
}

function copyFolder(from: string, to: string, user: ServerUser): void {
  makeFolder(to, user);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.has(entry.name)) continue;
    if (!entry.isDirectory()) copyFile(source, target, user);
    else if (EMPTY.has(entry.name)) makeFolder(target, user);
    else copyFolder(source, target, user);
  }
}

/** Makes a standby the primary. @throws Error when it does not become one within a minute */
export async function promoteStandby(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ promoted: boolean }>('SELECT pg_promote() AS promoted');
    if (rows[0]?.promoted !== true) throw new Error('the standby was not promoted');
  } finally {
    await client.end();
  }
}
