import { once } from 'node:events';
import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Session } from 'chdb';
import { clickhouseCredentials } from './clickhouse-credentials.ts';
import { clickhouseHttpServer } from './clickhouse-http-server.ts';
import { StatementJudge } from './judge-statement.ts';
import { StatementRunner } from './statement-runner.ts';

// node clickhouse-main.ts DIRECTORY PORT READ_ONLY_PORT DATA_DIR: ClickHouse over HTTP on loopback until SIGTERM. The
// passwords are in DATA_DIR, because anyone may read the arguments of a process.
const [directory, port, readOnlyPort, dataDir] = process.argv.slice(2);
if (directory === undefined || port === undefined || readOnlyPort === undefined || dataDir === undefined) {
  throw new Error('usage: clickhouse-main.ts DIRECTORY PORT READ_ONLY_PORT DATA_DIR');
}
const { writer, reader } = clickhouseCredentials(dataDir);

const stopped = once(process, 'SIGTERM');
process.on('SIGINT', () => undefined);
// The first session starts the engine and configures it for all others; it runs until the last one is closed.
const configuration = fileURLToPath(new URL('engine.xml', import.meta.url));
const engine = new Session(directory, { connectionArgs: [`--config-file=${configuration}`] });
const judge = new StatementJudge(directory);
const writers = new StatementRunner(directory, judge, 8);
const readers = new StatementRunner(directory, judge, 4);
const servers = [
  await listen(clickhouseHttpServer({ writers, readers, readOnly: false, credential: writer }), Number(port)),
  await listen(clickhouseHttpServer({ writers, readers, readOnly: true, credential: reader }), Number(readOnlyPort)),
];

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
