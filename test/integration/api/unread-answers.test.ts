import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/fixtures/eventually.ts';
import { readAnswers } from '../../support/clients/pipelined-answers.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let clients: Socket[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});
afterEach(() => {
  for (const client of clients) client.destroy();
  clients = [];
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

function client(): Socket {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  clients.push(socket);
  return socket;
}

function get(path: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

test.each([
  ['/openapi.json', 'identity'],
  ['/docs/swagger-ui-bundle.js', 'br'],
  ['/.well-known/oauth-authorization-server', 'gzip'],
])('a thousand clients that request %s (%s) and read nothing cost nearly no memory', async (path, encoding) => {
  const before = process.memoryUsage().arrayBuffers;
  const answered = async () => {
    const counter = await api.metrics.httpRequests.get();
    return counter.values.reduce((sum, { value }) => sum + value, 0);
  };
  const begun = await answered();
  for (let index = 0; index < 5; index++) {
    const socket = client();
    socket.pause();
    socket.write(get(path, { 'Accept-Encoding': encoding }).repeat(1_000));
  }
  await eventually('an answer to each', async () => (await answered()) >= begun + 5);
  // The bytes sent, and what one answer costs in each. All answers together are 750 MB for the description.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
});

test('clients that pipeline ten requests over kept-alive connections get every answer, in order', async () => {
  const { apiKey } = await api.account();
  const ask = (id: string) => get('/v1/account', { Authorization: `Bearer ${apiKey}`, 'X-Request-Id': id });
  await Promise.all(
    Array.from({ length: 10 }, async (_, connection) => {
      const socket = client();
      for (let round = 0; round < 10; round++) {
        const ids = Array.from({ length: 10 }, (_unused, index) => `request-${connection}-${round}-${index}`);
        socket.write(ids.map(ask).join(''));
        const answers = await readAnswers(socket, ids.length);
        expect(answers.map(({ head }) => /X-Request-Id: (\S+)/.exec(head)?.[1])).toEqual(ids);
        expect(answers.every(({ head }) => head.startsWith('HTTP/1.1 200 OK'))).toBe(true);
      }
    }),
  );
});
