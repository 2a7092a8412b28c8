import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { constants, getPriority, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Session } from 'chdb';
import { releaseMemory } from '../../../../shared/runtime/lifecycle.ts';
import { clickhouseCredentials } from './clickhouse-engine.ts';
import { clickhouseHttpServer } from './clickhouse-http-server.ts';
import { StatementRunner } from './statement-runner.ts';

/** With 5 steps less, the process gets a third of another's time while both want a core. */
const NICENESS = 5;

// node clickhouse-main.ts DIRECTORY PORT READ_ONLY_PORT DATA_DIR: ClickHouse over HTTP on loopback until SIGTERM. The
// passwords are in DATA_DIR, because anyone may read the arguments of a process.
const [directory, port, readOnlyPort, dataDir] = process.argv.slice(2);
if (directory === undefined || port === undefined || readOnlyPort === undefined || dataDir === undefined) {
  throw new Error('usage: clickhouse-main.ts DIRECTORY PORT READ_ONLY_PORT DATA_DIR');
}
const { writer, reader } = clickhouseCredentials(dataDir);

// Items are matched, recorded and delivered without ClickHouse: where the cores are busy, that comes first. The threads
// of the engine are started later and inherit it.
setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICENESS));
try {
  // With Linux's automatic task groups (sched(7)) a nice value counts only among the processes of one session, and this
  // process leads one.
  writeFileSync('/proc/self/autogroup', String(NICENESS));
} catch {
  // Without them, or where /proc may only be read, the nice value alone counts.
}

const stopped = once(process, 'SIGTERM');
process.on('SIGINT', () => undefined);
// The first session starts the engine and configures it for all others; it runs until the last one is closed.
const configuration = fileURLToPath(new URL('engine.xml', import.meta.url));
const engine = new Session(directory, { connectionArgs: [`--config-file=${configuration}`] });
const writers = new StatementRunner(directory, 8);
const readers = new StatementRunner(directory, 4);
const servers = [
  await listen(clickhouseHttpServer({ writers, readers, readOnly: false, credential: writer }), Number(port)),
  await listen(clickhouseHttpServer({ writers, readers, readOnly: true, credential: reader }), Number(readOnlyPort)),
];

releaseMemory();
await stopped;
// Running statements finish first, within the parent's deadline.
await Promise.all(servers.map(closeServer));
engine.close();
process.exit(0);

async function listen(server: Server, on: number): Promise<Server> {
  server.listen(on, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
