import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, describe } from 'vitest';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import type { OpenApiDocument } from '../../../services/api/openapi/openapi-shape.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

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
    error: { code: 'invalid_request', message: 'This is not valid HTTP.', retryable: false },
  });
});

test.each([
  ['Host', 'Accept: */*\r\n'],
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

test('a query and headers of more than 64 KiB get 400 with the envelope; smaller ones reach the route', async () => {
  const get = (length: number) => `GET /v1/account?x=${'x'.repeat(length)} HTTP/1.1\r\nHost: localhost\r\n`;
  const large = await send(`${get(70_000)}\r\n`);
  expect(large.status).toBe('HTTP/1.1 400 Bad Request');
  expect(large.body).toMatchObject({ error: { code: 'invalid_request', retryable: false } });
  expect((await send(`${get(60_000)}Connection: close\r\n\r\n`)).status).toBe('HTTP/1.1 401 Unauthorized');
});

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

describe('the description and its page', () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(api.url + path, { headers, redirect: 'manual' });

  describe('/openapi.json', () => {
    test('is public and cacheable', async () => {
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
  });

  describe('/docs', () => {
    test('is a page that may load from its own origin only', async () => {
      const response = await get('/docs');
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const policy = response.headers.get('content-security-policy')!;
      expect(policy).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
      );
      expect(policy).not.toMatch(/unsafe|https?:|\*|upgrade/);
      const page = await response.text();
      expect(page).not.toMatch(/https?:|\/\/|<style|style=| on\w+=|<script>|<script [^>]*>[^<]/);
    });

    test('loads only files that exist', async () => {
      const page = await (await get('/docs')).text();
      const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
      expect(links.length).toBeGreaterThanOrEqual(4);
      for (const link of links) {
        const url = new URL(link, `${api.url}/docs`);
        expect(url.origin).toBe(api.url);
        const response = await fetch(url);
        expect(response.status, link).toBe(200);
        expect((await response.arrayBuffer()).byteLength, link).toBeGreaterThan(100);
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      }
      const script = await get('/docs/swagger-ui-bundle.js');
      expect(script.headers.get('content-type')).toContain('javascript');
      expect(script.headers.get('cache-control')).toContain('immutable');
      expect((await get('/docs/start.js')).headers.get('content-type')).toContain('javascript');
    });
  });
});
