import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { copyCluster } from '../../../services/launcher/engines/postgres/postgres-backup.ts';
import { serverUser } from '../../../services/launcher/engines/postgres/postgres-user.ts';

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

/**
 * Copies a running server's files, so that an engine which is started on the copy is a streaming standby. The embedded
 * server has no pg_basebackup. Does nothing when the copy was made before.
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
    const { label } = await copyCluster({ client, source, target, label: name });
    const write = (file: string, text: string) => {
      const path = join(target, 'data', file);
      writeFileSync(path, text, { flag: 'a', mode: 0o600 });
    };
    write(
      'postgresql.auto.conf',
      `primary_conninfo = '${connectionInfo(primaryUrl, name)}'\nprimary_slot_name = '${name}'\n`,
    );
    write('standby.signal', '');
    write('backup_label', label);
    user.own(target);
    for (const entry of readdirSync(target, { recursive: true, encoding: 'utf8' })) user.own(join(target, entry));
  } finally {
    await client.end();
  }
}

function connectionInfo(url: string, name: string): string {
  const { hostname, port, username, password } = new URL(url);
  return `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)} application_name=${name}`;
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
