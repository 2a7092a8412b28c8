import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi, onTestFinished, describe } from 'vitest';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { untilLockWaiters } from '../../support/fixtures/lock-waiters.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { OpenApiDocument } from '../../../services/api/openapi/openapi-shape.ts';

const DOCS = 'http://localhost/docs/reference/errors#';
const PATIENT = { timeout: 60_000 };
let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let monitorId: string;
let logged = '';

beforeAll(async () => {
  db = await createTestDatabase();
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString();
      done();
    },
  });
  api = await startTestApi(db.pool, { logger: createLogger('debug', sink) });
  owner = await api.account();
  monitorId = (await api.monitor(owner.apiKey, { webhook_url: 'https://receiver.example/secret-path' })).id;
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

test('both headers work; a revoked key, a frozen and a deleted account are refused at once', async () => {
  const { accountId, apiKey } = await api.account();
  const status = async () =>
    (await api.call(undefined, 'GET', '/v1/account', undefined, { 'X-Api-Key': apiKey })).status;
  expect([await status(), (await api.call(apiKey, 'GET', '/v1/account')).status]).toEqual([200, 200]);
  for (const [state, refusal] of [
    ['frozen', 403],
    ['deleted', 401],
  ]) {
    await db.pool.query('UPDATE accounts SET status = $2 WHERE id = $1', [accountId, state]);
    expect(await status()).toBe(refusal);
  }
  await db.pool.query(`UPDATE accounts SET status = 'active' WHERE id = $1`, [accountId]);
  expect(await status()).toBe(200);
  await db.pool.query('UPDATE api_keys SET revoked_at = service_now() WHERE account_id = $1', [accountId]);
  expect(await status()).toBe(401);
});

test('an internal error answers 500 with only the request id', async () => {
  const gone = createPool({ url: db.url, name: 'gone', logger: silentLogger() });
  await gone.end();
  const broken = await startTestApi(gone);
  const reply = await broken.call(owner.apiKey, 'GET', '/v1/account', undefined, { 'x-request-id': 'my-own.id_1' });
  await broken.stop();
  expect(reply.status).toBe(500);
  expect(reply.headers.get('x-request-id')).toBe('my-own.id_1');
  expect(reply.body).toEqual({
    error: {
      code: 'internal_error',
      message: 'Something went wrong on our side (request my-own.id_1).',
      doc_url: `${DOCS}internal_error`,
      retryable: true,
    },
  });
});

test('/healthz answers, and /readyz names the parts that do not', async () => {
  let ready = false;
  let checks = 0;
  const probe = () => {
    checks++;
    return Promise.resolve({ ready, parts: { postgres: true, kafka: ready } });
  };
  const probed = await startTestApi(db.pool, { ready: probe });
  expect((await probed.call(undefined, 'GET', '/healthz')).status).toBe(200);
  const waiting = await probed.call(undefined, 'GET', '/readyz');
  expect([waiting.status, waiting.body]).toEqual([503, { ready: false, parts: { postgres: true, kafka: false } }]);
  ready = true;
  const begun = performance.now();
  const isReady = async () => (await probed.call(undefined, 'GET', '/readyz')).status === 200;
  await eventually('the answer of the next check', isReady);
  await Promise.all(Array.from({ length: 100 }, isReady));
  // All requests share one check per second.
  expect(checks).toBeLessThanOrEqual(2 + (performance.now() - begun) / 1_000);
  await probed.stop();
  const failing = await startTestApi(db.pool, { ready: () => Promise.reject(new Error('no')) });
  expect((await failing.call(undefined, 'GET', '/readyz')).status).toBe(503);
  await failing.stop();
});

test('requests are counted by route pattern and logged without key, query or secret', async () => {
  await api.call(owner.apiKey, 'GET', `/v1/monitors/${monitorId}/matches?limit=7`);
  const counted = await api.metrics.registry.metrics();
  expect(counted).toContain('route="/v1/monitors/:id/matches",status="200"');
  expect(counted).not.toContain(monitorId);
  const line = logged.split('\n').find((text) => text.includes(`"path":"/v1/monitors/${monitorId}/matches"`));
  expect(JSON.parse(line!)).toMatchObject({
    account_id: owner.accountId,
    status: 200,
    requestId: expect.any(String) as string,
  });
  expect(logged).not.toContain(owner.apiKey.slice(11));
  expect(logged).not.toMatch(/whsec_|limit=7|secret-path/);
});

test('a stop lets requests under way finish', async () => {
  const stopping = await startTestApi(db.pool);
  const holder = await db.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM monitor_counters WHERE monitor_id = $1 FOR UPDATE', [monitorId]);
  const paused = stopping.call(owner.apiKey, 'POST', `/v1/monitors/${monitorId}/pause`);
  await untilLockWaiters(db.pool);
  const stopped = stopping.stop();
  await holder.query('COMMIT');
  holder.release();
  expect((await paused).status).toBe(200);
  const answered = performance.now();
  await stopped;
  expect(performance.now() - answered).toBeLessThan(4_500);
  await expect(stopping.call(owner.apiKey, 'GET', '/v1/account')).rejects.toThrow();
});

test('a whole key sent by mistake in a path is not logged', async () => {
  const { apiKey } = await api.account();
  const made = (await api.call(apiKey, 'POST', '/v1/account/keys', { name: 'x' })).body.api_key as string;
  expect((await api.call(apiKey, 'DELETE', `/v1/account/keys/${made}`)).status).toBe(404);
  await fetch(`${api.url}/${made.toUpperCase()}`);
  await vi.waitFor(() => expect(logged).toContain('"path":"/FK_'), PATIENT);
  expect(logged).toContain(`"path":"/v1/account/keys/${made.slice(0, 11)}…"`);
  expect(logged.toLowerCase()).not.toContain(made.slice(11));
});

describe('connections', () => {
  /** Returns the answer to these bytes until the server closes the connection. */
  async function send(text: string): Promise<{ status: string; headers: string; body: unknown }> {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.write(text);
    await once(socket, 'close');
    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    const [status = '', ...headers] = head.split('\r\n');
    return { status, headers: headers.join('\n'), body: body === '' ? undefined : JSON.parse(body) };
  }

  test('input that is not HTTP gets the envelope, and the connection is closed', async () => {
    const answer = await send('hello\r\n\r\n');
    expect(answer.status).toBe('HTTP/1.1 400 Bad Request');
    expect(answer.headers).toMatch(/^Content-Type: application\/json.*\nContent-Length: \d+\nX-Request-Id: \S+\n/);
    expect(answer.body).toEqual({
      error: {
        code: 'invalid_request',
        message: 'The request is not valid HTTP.',
        doc_url: `${DOCS}invalid_request`,
        retryable: false,
      },
    });
  });

  test.each([
    ['Host', 'Accept: */*\r\n'],
    ['Host', 'Host: localhost\r\nHost: localhost\r\n'],
    ['Expect', 'Host: localhost\r\nExpect: foo\r\n'],
  ])('a request that breaks the rules of HTTP for %s gets the envelope too', async (name, headers) => {
    const answer = await send(`GET /v1/account HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
    expect(answer.status).toBe('HTTP/1.1 400 Bad Request');
    expect(answer.headers).toMatch(/^X-Request-Id: \S+$/m);
    expect(answer.body).toMatchObject({
      error: { code: 'invalid_request', message: expect.stringContaining(`${name}: `) as string, retryable: false },
    });
  });

  test.each(['/v1/forum/search?q=rust lang', '/v1/forum/search?q=咖啡'])(
    'a URL that is not percent-encoded is told so: %s',
    async (target) => {
      const answer = await send(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      expect(answer.body).toMatchObject({
        error: { code: 'invalid_request', message: expect.stringContaining('percent-encode') as string },
      });
    },
  );

  test.each([
    ['a client has a tenth of the connections', undefined, 2],
    ['a trusted proxy has all', 'loopback', 3],
  ])('%s, and others are answered', async (_, trustProxy, open) => {
    const small = await startTestApi(db.pool, { http: { trustProxy, maxConnections: 20 } });
    onTestFinished(() => small.stop());
    const { port } = new URL(small.url);
    const sockets = Array.from({ length: 3 }, () =>
      connect({ host: '127.0.0.1', port: Number(port), localAddress: '127.0.0.2' }),
    );
    const statuses = sockets.map(
      (socket) =>
        new Promise((resolve) => {
          socket.once('data', () => resolve('open')).once('close', () => resolve('closed'));
          socket.on('error', () => undefined).write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
        }),
    );
    expect((await Promise.all(statuses)).filter((status) => status === 'open')).toHaveLength(open);
    expect((await fetch(`${small.url}/healthz`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test('a query and headers of more than 64 KiB get 400 with the envelope; smaller ones reach the route', async () => {
    const get = (length: number) => `GET /v1/account?x=${'x'.repeat(length)} HTTP/1.1\r\nHost: localhost\r\n`;
    const large = await send(`${get(70_000)}\r\n`);
    expect(large.status).toBe('HTTP/1.1 400 Bad Request');
    expect(large.body).toMatchObject({ error: { code: 'invalid_request', retryable: false } });
    expect((await send(`${get(60_000)}Connection: close\r\n\r\n`)).status).toBe('HTTP/1.1 401 Unauthorized');
  });

  test.each([
    ['/openapi.json', 'identity'],
    ['/llms-full.txt', 'gzip'],
    ['/.well-known/oauth-authorization-server', 'gzip'],
  ])('a thousand clients that request %s (%s) and read nothing cost nearly no memory', async (path, encoding) => {
    const before = process.memoryUsage().arrayBuffers;
    const answered = async () => {
      const counter = await api.metrics.httpRequests.get();
      return counter.values.reduce((sum, { value }) => sum + value, 0);
    };
    const begun = await answered();
    for (let index = 0; index < 5; index++) {
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${encoding}\r\n\r\n`.repeat(1_000));
    }
    await eventually('an answer to each', async () => (await answered()) >= begun + 5);
    // The bytes sent, and what one answer costs in each. All answers together are 750 MB for the description.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });
});

describe('the description and its page', () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(api.url + path, { headers, redirect: 'manual' });

  test('/openapi.json is public and cacheable', async () => {
    const response = await get('/openapi.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const document = (await response.json()) as OpenApiDocument;
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
    const etag = response.headers.get('etag')!;
    // Without Cache-Control, fetch itself asks for a fresh copy.
    const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
    const again = await api.call(undefined, 'GET', '/openapi.json', undefined, headers);
    expect([again.status, again.text.length, again.headers.get('etag')]).toEqual([304, 0, etag]);
    expect((await get('/openapi.json', { 'if-none-match': '"another"' })).status).toBe(200);
  });

  test.each([
    ['/openapi.json', 'br', 'br'],
    ['/openapi.json', 'gzip', 'gzip'],
    ['/openapi.json', 'identity', null],
    ['/healthz', 'gzip', null],
    ['/docs', 'gzip', null],
    ['/llms-full.txt', 'br', 'br'],
  ])('%s for a client that accepts %s is compressed with %s', async (path, accepted, encoding) => {
    const plain = await get(path, { 'accept-encoding': 'identity' });
    const response = await get(path, { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(await response.text()).toBe(await plain.text());
  });

  test('/docs is a page without scripts that may load from its own origin only', async () => {
    const response = await get('/docs');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(/^default-src 'none'; style-src 'self'; img-src 'self';/);
    expect(policy).not.toMatch(/unsafe|script|https?:|\*|upgrade/);
    const page = await response.text();
    expect(page).not.toMatch(/<script|<style|style=| on\w+=/);
    const style = /<link rel="stylesheet" href="([^"]+)"/.exec(page)![1]!;
    const sheet = await get(style);
    expect([sheet.status, sheet.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(sheet.headers.get('cache-control')).toContain('immutable');
  });

  test.each([
    ['/docs.md', 'markdown'],
    ['/docs/guide/webhooks.md', 'markdown'],
    ['/llms.txt', 'plain'],
    ['/llms-full.txt', 'plain'],
  ])('%s is Markdown, as text/%s', async (path, type) => {
    const response = await get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, `text/${type}; charset=utf-8`]);
    expect(await response.text()).toMatch(/^# /);
  });

  test('metrics name the route of a page', async () => {
    await get('/docs/guide/webhooks');
    await eventually('it is counted', async () => {
      const { values } = await api.metrics.httpRequests.get();
      return values.some(({ labels }) => labels.route === '/docs/*path' && labels.status === '200');
    });
  });

  test('pages that do not exist and other methods are refused like those of the API', async () => {
    expect((await api.call(undefined, 'GET', '/docs/guide/none')).status).toBe(404);
    expect((await api.call(undefined, 'POST', '/docs/guide/webhooks')).headers.get('allow')).toBe('GET, HEAD');
    expect((await get('/docs/')).headers.get('location')).toBe('../docs');
  });

  test('an error links to its entry in the documentation', async () => {
    const { body } = await api.call(undefined, 'GET', '/v1/account');
    const { doc_url: url } = (body as { error: { doc_url: string } }).error;
    expect(url).toBe(`${DOCS}unauthorized`);
    const page = await (await get(new URL(url).pathname)).text();
    expect(page).toContain('<h2 id="unauthorized">');
  });
});
