import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { identifyProcess } from '../../../shared/runtime/process-identity.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'forum-clickhouse-access-'));
let engines: RunningEngines<'clickhouse'>;
const start = () => startEngines({ dataDir, env: process.env, engines: ['clickhouse'] });

beforeAll(async () => {
  engines = await start();
});
afterAll(async () => {
  await engines.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Answer {
  status: number | undefined;
  code: string | undefined;
  text: string;
}

/** Sends a request with exactly these headers; fetch() would set some of them itself. */
function ask(at: string, given: { method?: string; path?: string; headers?: Record<string, string> }): Promise<Answer> {
  const { port } = new URL(at);
  const { method = 'GET', path = '/?query=SELECT+1', headers = {} } = given;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => {
        const code = response.headers['x-clickhouse-exception-code'] as string | undefined;
        resolve({ status: response.statusCode, code, text });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const ports = () => [engines.urls.clickhouse, engines.clickhouseReadOnlyUrl!];
const basic = (user: string, password: string) => ({ authorization: `Basic ${btoa(`${user}:${password}`)}` });
const pathOf = (sql: string) => `/?query=${encodeURIComponent(sql)}`;
const credentialOf = (at: string) => ({ user: new URL(at).username, password: new URL(at).password });

test("the embedded ClickHouse accepts its credential in each of ClickHouse's three ways", async () => {
  for (const at of ports()) {
    const { user, password } = credentialOf(at);
    expect(password.length).toBeGreaterThanOrEqual(32);
    const right = { status: 200, text: '1\n' };
    for (const method of ['GET', 'POST']) {
      expect(await ask(at, { method, headers: basic(user, password) })).toMatchObject(right);
      const headers = { 'x-clickhouse-user': user, 'x-clickhouse-key': password };
      expect(await ask(at, { method, headers })).toMatchObject(right);
      expect(await ask(at, { method, path: `/?user=${user}&password=${password}&query=SELECT+1` })).toMatchObject(
        right,
      );
    }
  }
});

test('the embedded ClickHouse refuses all other requests with the errors of ClickHouse', async () => {
  const [writer, reader] = ports().map(credentialOf);
  for (const [index, at] of ports().entries()) {
    const { user, password } = credentialOf(at);
    const other = index === 0 ? reader! : writer!;
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect(await ask(at, { method })).toMatchObject({ status: 401, code: '516' });
    }
    for (const headers of [
      basic(user, ''),
      basic(user, password.slice(1)),
      basic('default', password),
      basic(other.user, other.password),
      { authorization: `Bearer ${password}` },
      { authorization: 'Basic' },
      { 'x-clickhouse-user': user },
      { 'x-clickhouse-key': password },
      { 'x-clickhouse-user': user, 'x-clickhouse-key': `${password}x` },
      { ...basic(user, password), 'x-clickhouse-user': 'default' },
    ]) {
      expect(await ask(at, { headers }), JSON.stringify(headers)).toMatchObject({ status: 403, code: '516' });
    }
    for (const path of [`/?user=${user}&query=SELECT+1`, `/?user=${user}&password=x&query=SELECT+1`]) {
      expect(await ask(at, { path })).toMatchObject({ status: 403, code: '516' });
    }
  }
});

test('the embedded ClickHouse refuses web pages, whatever their method and credential', async () => {
  for (const at of ports()) {
    const { user, password } = credentialOf(at);
    const { port } = new URL(at);
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      for (const path of ['/?query=SELECT+1', `/?query=SELECT+1&user=${user}&password=${password}`]) {
        for (const headers of [
          { origin: 'http://evil.test' },
          { origin: 'null' },
          { origin: `http://127.0.0.1:${port}` },
          { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
          { 'sec-fetch-site': 'same-site' },
          { 'sec-fetch-site': 'same-origin' },
          { host: 'evil.test' },
          { host: `evil.test:${port}` },
          { host: `127.0.0.1.evil.test:${port}` },
        ]) {
          expect((await ask(at, { method, path, headers })).status, JSON.stringify(headers)).toBe(403);
        }
      }
    }
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
      const headers = { host, ...basic(user, password) };
      expect(await ask(at, { headers })).toMatchObject({ status: 200 });
    }
  }
});

test('a statement whose client left while it waited is not run', async () => {
  const { hostname: host, port, username, password } = new URL(engines.urls.clickhouse);
  const headers = basic(username, password);
  const run = (sql: string) => ask(engines.urls.clickhouse, { method: 'POST', path: pathOf(sql), headers });
  await run('CREATE TABLE left_rows (x UInt8) ENGINE = MergeTree ORDER BY x');
  // They take all places of statements that write.
  const busy = Array.from({ length: 8 }, () => run('SELECT sleep(3), sleep(2.9), sleep(2.8)'));
  await wait(500);
  const leaving = request({ host, port, method: 'POST', path: pathOf('INSERT INTO left_rows VALUES (1)'), headers });
  leaving.on('error', () => undefined);
  leaving.end();
  await wait(500);
  leaving.destroy();
  expect((await Promise.all(busy)).map(({ status }) => status)).toEqual(busy.map(() => 200));
  // It comes after the one that left, and has a place.
  await run('INSERT INTO left_rows VALUES (2)');
  expect(await run('SELECT x FROM left_rows')).toMatchObject({ status: 200, text: '2\n' });
  await run('DROP TABLE left_rows');
});

test('the passwords survive restarts, only their owner can read them, and no argument or log contains them', async () => {
  const before = ports();
  await engines.stop();
  engines = await start();
  expect(ports()).toEqual(before);
  for (const name of ['clickhouse', 'clickhouse-read-only']) {
    expect(statSync(join(dataDir, 'secrets', name)).mode & 0o777).toBe(0o600);
  }
  expect(statSync(join(dataDir, 'secrets')).mode & 0o777).toBe(0o700);
  const command = identifyProcess(engines.process('clickhouse').pid)?.command ?? '';
  const log = readFileSync(join(dataDir, 'logs', 'clickhouse.log'), 'utf8');
  for (const { password } of ports().map(credentialOf)) {
    expect(command).not.toContain(password);
    expect(log).not.toContain(password);
  }
});
