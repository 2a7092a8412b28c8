import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { COLLECTABLE } from '../../../../shared/runtime/lifecycle.ts';
import { persistedSecret, StartFault } from '../engine.ts';
import type { Engine, EngineContext } from '../engine.ts';
import { answers, awaitReady, logSize, startOwnedProcess } from '../owned-process.ts';
import type { Credential } from './clickhouse-http-server.ts';

/** One for each port; the analysts' is not valid on the port that writes. */
export function clickhouseCredentials(dataDir: string): { writer: Credential; reader: Credential } {
  return {
    writer: { user: 'forum', password: persistedSecret(dataDir, 'clickhouse') },
    reader: { user: 'analyst', password: persistedSecret(dataDir, 'clickhouse-read-only') },
  };
}

export function clickhouseUrl({ user, password }: Credential, port: number): string {
  return `http://${user}:${password}@127.0.0.1:${port}`;
}

const SERVER = join(import.meta.dirname, 'clickhouse-main.ts');
/**
 * jemalloc, the engine's, gives memory back after 0.5 s instead of 5 s (25 MB less beside the soak benchmark's load).
 */
const MEMORY_ENVIRONMENT = { JE_MALLOC_CONF: 'dirty_decay_ms:500', MALLOC_ARENA_MAX: '2' };

export function clickhouseEngine(context: EngineContext): Engine {
  const data = join(context.dataDir, 'clickhouse');
  const userFiles = join(data, 'user_files');
  const log = join(context.dataDir, 'logs', 'clickhouse.log');
  const pidFile = join(context.dataDir, 'run', 'clickhouse.pid');
  return {
    name: 'clickhouse',
    stopSignal: 'SIGTERM',
    pidFile,
    async prepare() {
      if (existsSync(join(import.meta.dirname, '../../../../node_modules/chdb'))) return;
      throw new StartFault(
        'The embedded ClickHouse (npm package chdb) is not installed. Run npm ci with development packages, or set CLICKHOUSE_URL to a server.',
      );
    },
    async start(ports) {
      // Creates the passwords before the child process reads them.
      clickhouseCredentials(context.dataDir);
      mkdirSync(userFiles, { recursive: true });
      const logFrom = logSize(log);
      const server = await startOwnedProcess({
        name: 'clickhouse',
        command: process.execPath,
        args: [
          COLLECTABLE,
          SERVER,
          data,
          String(ports.clickhouse),
          String(ports['clickhouse-read-only']),
          context.dataDir,
        ],
        // Each session blocks a thread of the pool while its statement runs: 8 writes and 4 reads at a time.
        env: { ...context.env, UV_THREADPOOL_SIZE: '16', NODE_OPTIONS: '', ...MEMORY_ENVIRONMENT },
        // The engine looks up unknown table names as files in its working directory, so that one is an empty folder.
        cwd: userFiles,
        pidFile,
        marker: data,
        output: log,
        stopSignal: 'SIGTERM',
        stopDeadlineMs: 10_000,
      });
      const probe = () => answers(`http://127.0.0.1:${ports.clickhouse}/ping`);
      await awaitReady({ process: server, probe, deadlineMs: 60_000, log, logFrom, signal: context.signal });
      return server;
    },
    url: (ports) => clickhouseUrl(clickhouseCredentials(context.dataDir).writer, ports.clickhouse),
  };
}
