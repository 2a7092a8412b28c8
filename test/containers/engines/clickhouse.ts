/**
 * Stands in for a ClickHouse server in a container: the embedded engine, which listens on loopback and makes its own
 * passwords, behind a proxy that takes the user and the password of the official image.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { clickhouseCredentials } from '../../../services/launcher/engines/clickhouse/clickhouse-engine.ts';

const DATA = '/var/lib/clickhouse';
const ENGINE = { host: '127.0.0.1', port: 8124 };
const { CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_DB } = process.env;

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const given = basic(CLICKHOUSE_USER!, CLICKHOUSE_PASSWORD!);
const { writer } = clickhouseCredentials(DATA);
const own = basic(writer.user, writer.password);

const files = join(DATA, 'user_files');
mkdirSync(files, { recursive: true });
const main = join(import.meta.dirname, '../../../services/launcher/engines/clickhouse/clickhouse-main.ts');
const args = ['--expose-gc', main, join(DATA, 'data'), String(ENGINE.port), '8125', DATA];
const engine = spawn(process.execPath, args, {
  cwd: files,
  env: { ...process.env, UV_THREADPOOL_SIZE: '16' },
  stdio: 'inherit',
});
engine.once('exit', (code) => {
  process.exit(code ?? 1);
});
process.on('SIGTERM', () => void engine.kill('SIGTERM'));

let isCreated = false;
while (!isCreated) {
  const body = `CREATE DATABASE IF NOT EXISTS ${CLICKHOUSE_DB}`;
  const url = `http://${ENGINE.host}:${ENGINE.port}`;
  isCreated = await fetch(url, { method: 'POST', headers: { authorization: own }, body }).then(
    ({ ok }) => ok,
    () => false,
  );
  await wait(100);
}

createServer((incoming, outgoing) => {
  const { authorization } = incoming.headers;
  const headers = { ...incoming.headers, host: `${ENGINE.host}:${ENGINE.port}` };
  if (authorization !== undefined) headers.authorization = authorization === given ? own : authorization;
  const forwarded = request({ ...ENGINE, method: incoming.method, path: incoming.url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(outgoing);
  });
  forwarded.once('error', () => outgoing.destroy());
  outgoing.once('close', () => forwarded.destroy());
  incoming.pipe(forwarded);
}).listen(8123, '0.0.0.0');
