import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import '../../support/runner/provided-context.ts';
import { DataDirLock } from '../../../services/launcher/engines/data-dir-lock.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { findProgram } from '../../../services/launcher/engines/engine.ts';
import { administrate } from '../../support/fixtures/database-administration.ts';
import { freePort } from '../../support/fixtures/free-port.ts';

const root = mkdtempSync(join(tmpdir(), 'forum-parent-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs the parent to its end; what it wrote to standard error is its message. */
async function run(
  env: Record<string, string>,
  ...services: string[]
): Promise<{ code: number | null; message: string }> {
  const child = spawn(process.execPath, ['services/main.ts', ...services], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let message = '';
  child.stderr.on('data', (chunk: Buffer) => (message += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, message };
}

/** Creates a folder that contains only the named programs, for use as PATH. */
function pathWith(...programs: string[]): string {
  const folder = mkdtempSync(join(root, 'path-'));
  for (const program of programs) symlinkSync(findProgram(program, process.env)!, join(folder, program));
  return folder;
}

const lines = (text: string) => text.trim().split('\n').length;

describe('a start that fails', () => {
  test('refuses the data directory of a running installation without changing it', async () => {
    const dataDir = join(root, 'locked');
    const lock = await DataDirLock.acquire(dataDir);
    const before = readdirSync(dataDir);
    const { code, message } = await run({ DATA_DIR: dataDir, PORT: String(await freePort()) });
    expect(code).toBe(1);
    expect(message).toContain(`is in use by a running installation (pid ${process.pid})`);
    expect(lines(message)).toBe(1);
    expect(readdirSync(dataDir)).toEqual(before);
    lock.release();
  });

  test.each(['PORT', 'METRICS_PORT'])('names a %s that is in use', async (variable) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const dataDir = join(root, variable);
    const free = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
    const { code, message } = await run({ DATA_DIR: dataDir, ...free, [variable]: String(port) });
    taken.close();
    expect(code).toBe(1);
    expect(message).toBe(
      `Port ${port} is in use by another program. Stop that program, or choose another port with ${variable}=….\n`,
    );
    expect(existsSync(join(dataDir, 'kafka'))).toBe(false);
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  });

  test('lists three solutions if Java is missing', async () => {
    const ports = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
    const { code, message } = await run({ DATA_DIR: join(root, 'Java'), PATH: pathWith('mvn'), ...ports });
    expect(code).toBe(1);
    expect(message).toMatch(/^Java.* was not found\. Do one of the following:/);
    for (const way of ['install Java 17', 'KAFKA_BROKERS=host:port', 'docker compose']) expect(message).toContain(way);
  });

  test('names each server that refuses its password, and starts nothing', async () => {
    const wrong = (text: string) => text.replace(/:[^:@/]+@/, ':wrong@');
    const env = {
      DATABASE_URL: wrong(inject('postgresUrl')),
      KAFKA_BROKERS: wrong(inject('kafkaBrokers')),
      CLICKHOUSE_URL: wrong(inject('clickhouseUrl')),
    };
    const ports = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
    const { code, message } = await run({ DATA_DIR: join(root, 'passwords'), ...ports, ...env });
    expect(code).toBe(1);
    expect(message).toMatch(
      /^DATABASE_URL: Postgres refuses .*\nCLICKHOUSE_URL: .*refuses .*\nKAFKA_BROKERS: .*refuses .*/m,
    );
    expect(existsSync(join(root, 'passwords', 'run'))).toBe(false);
  });

  test('refuses a DATA_DIR of a version before 1.0.0 in one sentence', async () => {
    const dataDir = join(root, 'before');
    const engines = await startEngines({ dataDir, env: process.env, engines: ['postgres'] });
    await administrate(
      engines.urls.postgres,
      'CREATE TABLE schema_migrations (id serial PRIMARY KEY, name varchar(255), run_on timestamp)',
      `INSERT INTO schema_migrations (name, run_on) VALUES ('0001_initial', now()), ('0002_accounts', now())`,
    );
    await engines.stop();
    const ports = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
    const { code, message } = await run({ DATA_DIR: dataDir, ...ports });
    expect(code).toBe(1);
    expect(message).toMatch(/^Postgres has a database from a version before 1\.0\.0, .* or an empty DATA_DIR\.\n$/);
  });

  test('refuses a joining start if no installation is running', async () => {
    const { code, message } = await run({ DATA_DIR: join(root, 'nothing') }, 'matcher', 'recorder');
    expect(code).toBe(1);
    expect(message).toContain('Nothing to join');
    expect(existsSync(join(root, 'nothing'))).toBe(false);
  });
});
