import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const ROOT = join(import.meta.dirname, '../../..');
const RUNNER = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const EXPECTED = join(ROOT, 'test/long/mcp/conformance.yaml');

let db: TestDatabase;
let api: TestApi;
let proxy: Server;
let url: string;
let results: string;

/**
 * The scenarios send no keys, and more messages a second than an account may: each message gets the key of another
 * account.
 */
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  const accounts = await Promise.all(Array.from({ length: 20 }, () => api.account()));
  let next = 0;
  proxy = createServer((request, response) => {
    const { apiKey } = accounts[next++ % accounts.length]!;
    const headers = { ...request.headers, authorization: `Bearer ${apiKey}` };
    const onward = send(new URL(request.url!, api.url), { method: request.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  url = `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`;
  results = mkdtempSync(join(tmpdir(), 'forum-test-conformance-'));
});

afterAll(async () => {
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
  await api.stop();
  await db.drop();
  rmSync(results, { recursive: true, force: true });
});

async function run(...options: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [RUNNER, 'server', '--url', url, '-o', results, ...options], { cwd: results });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number>((resolve) => child.once('exit', (status) => resolve(status ?? -1)));
  return { code, output };
}

test('passes the applicable scenarios of the official conformance tests, and the list of the others is correct', async () => {
  const { code, output } = await run('--suite', 'all', '--expected-failures', EXPECTED);
  expect(code, output.slice(-4_000)).toBe(0);
  for (const passed of ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']) {
    expect(output).toMatch(new RegExp(`✓ ${passed}: [1-9]\\d* passed, 0 failed`));
  }
  const ran = [...output.matchAll(/^[✓✗] ([\w-]+):/gm)].map(([, name]) => name);
  const listed = readFileSync(EXPECTED, 'utf8')
    .match(/^ {2}- (.*)$/gm)!
    .map((line) => line.slice(4));
  expect(listed.filter((name) => !ran.includes(name))).toEqual([]);
});
