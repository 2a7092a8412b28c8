import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { createEgressClient } from '../../../shared/http/egress-client.ts';
import type { EgressClient, EgressClientDeps, EgressResult } from '../../../shared/http/egress-client.ts';
import { freePort } from '../../support/fixtures/free-port.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function createTestClient(options: Partial<EgressClientDeps> = {}): EgressClient {
  const client = createEgressClient({
    allowPrivate: true,
    egressProxy: undefined,
    clock: () => Date.now(),
    lookup: async () => ['127.0.0.1'],
    ...options,
  });
  cleanups.push(() => client.close());
  return client;
}

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener) => listen(createServer(listener));
const post = (url: string, deadlineMs = 60_000) => ({
  url,
  method: 'POST' as const,
  headers: { 'Content-Type': 'application/json' },
  body: Buffer.from('{"a":1}'),
  deadlineMs,
});

test('sends the exact body and returns status, wait and text', async () => {
  let received = '';
  const port = await serve((request, response) => {
    request.on('data', (chunk: Buffer) => (received += chunk.toString()));
    request.on('end', () => response.writeHead(429, { 'Retry-After': '7' }).end('slow down'));
  });
  const result = await createTestClient().send(post(`http://receiver.test:${port}/hook?x=1`));
  expect(result).toEqual({ error: null, status: 429, retryAfterMs: 7_000, bodyExcerpt: 'slow down' });
  expect(received).toBe('{"a":1}');
});

test('reads at most 64 KB of a response', async () => {
  const port = await serve((_, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
    };
    response.on('drain', more);
    more();
  });
  const result = await createTestClient().send(post(`http://127.0.0.1:${port}/`));
  expect(result).toMatchObject({ error: null, status: 200 });
  expect('bodyExcerpt' in result && result.bodyExcerpt.length).toBe(64 * 1024);
});

test('times out at the deadline while waiting for the TLS handshake', async () => {
  const port = await listen(createTcpServer((socket) => cleanups.push(async () => socket.destroy())));
  const result = await createTestClient().send(post(`https://127.0.0.1:${port}/`, 300));
  expect(result).toMatchObject({ error: 'timeout', status: 0 });
});

test('times out at the deadline while a name is resolved', async () => {
  const client = createTestClient({ lookup: () => new Promise(() => undefined) });
  expect(await client.send(post('http://receiver.test/', 300))).toMatchObject({ error: 'timeout', status: 0 });
});

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://169.254.169.254/latest/meta-data/',
  'http://8.8.8.8/',
  'https://user:pw@8.8.8.8/',
  'https://8.8.8.8:25/',
  'no url',
])('refuses %s without connecting', async (url) => {
  const lookup = () => Promise.reject(new Error('must not be called'));
  expect(await createTestClient({ allowPrivate: false, lookup }).send(post(url))).toMatchObject({
    error: 'blocked_address',
  });
});

test('refuses a name that turns to a private address when it connects (DNS rebinding)', async () => {
  let requests = 0;
  const port = await serve((_, response) => {
    requests++;
    response.end();
  });
  const client = createTestClient({ allowPrivate: false, lookup: async () => ['127.0.0.1'] });
  expect(await client.send(post(`https://receiver.test:${port}/`))).toMatchObject({ error: 'blocked_address' });
  const mixed = createTestClient({ allowPrivate: false, lookup: async () => ['8.8.8.8', '10.0.0.1'] });
  expect(await mixed.send(post(`https://receiver.test:${port}/`))).toMatchObject({ error: 'blocked_address' });
  expect(requests).toBe(0);
});

test('checks the peer address of the socket before anything is sent', async () => {
  let bytes = 0;
  const port = await listen(createTcpServer((socket) => socket.on('data', (data) => (bytes += data.length))));
  let asked = 0;
  // Allowed on resolving, refused once connected.
  const client = createTestClient({ isAllowed: () => ++asked === 1 });
  expect(await client.send(post(`http://receiver.test:${port}/`))).toMatchObject({ error: 'blocked_address' });
  expect(asked).toBe(2);
  expect(bytes).toBe(0);
});

test('resolves and checks a name itself and sends the checked address to the proxy', async () => {
  const port = await serve((request, response) => response.end(`for ${request.headers.host ?? ''}`));
  const asked: { path: string; authorization: string | undefined }[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    asked.push({ path: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    socket.on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
  });
  const proxyPort = await listen(proxy);
  const egressProxy = `http://me:p%40ss@127.0.0.1:${proxyPort}`;

  const client = createTestClient({ egressProxy, lookup: async () => ['8.8.8.8'] });
  expect(await client.send(post('http://receiver.test:8080/'))).toMatchObject({
    status: 200,
    bodyExcerpt: 'for receiver.test:8080',
  });
  expect(asked).toEqual([
    { path: '8.8.8.8:8080', authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}` },
  ]);

  const strict = createTestClient({ egressProxy, allowPrivate: false, lookup: async () => ['10.0.0.1'] });
  expect(await strict.send(post('https://receiver.test/'))).toMatchObject({ error: 'blocked_address' });
  expect(asked).toHaveLength(1);
});

test.each([
  { answer: 'HTTP/1.1 403 Forbidden', code: 'proxy_refused' },
  { answer: 'HTTP/1.1 407 Proxy Authentication Required', code: 'proxy_refused' },
])('a proxy that answers $answer is a local fault', async ({ answer, code }) => {
  expect(await throughProxy((_, socket) => socket.end(`${answer}\r\n\r\n`))).toMatchObject({ error: 'local', code });
});

test.each([502, 503, 504])('a proxy that answers %i could not reach the receiver', async (status) => {
  const result = await throughProxy((_, socket) => socket.end(`HTTP/1.1 ${status} Away\r\n\r\n`));
  expect(result).toMatchObject({ error: 'connect', status: 0 });
});

test('a proxy that is unreachable or breaks off is a local fault', async () => {
  expect(await throughProxy((_, socket) => socket.destroy())).toMatchObject({ error: 'local', code: 'proxy_away' });
  const client = createTestClient({ egressProxy: `http://127.0.0.1:${await freePort()}` });
  const result = await client.send(post('http://receiver.test/'));
  expect(result).toMatchObject({ error: 'local', status: 0, code: 'proxy_away' });
});

async function throughProxy(
  onConnect: (request: unknown, socket: Duplex) => unknown,
  deadlineMs?: number,
): Promise<EgressResult> {
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    cleanups.push(async () => socket.destroy());
    onConnect(request, socket);
  });
  const client = createTestClient({ egressProxy: `http://127.0.0.1:${await listen(proxy)}` });
  return client.send(post('http://receiver.test/', deadlineMs));
}

test('an address that this machine refuses to connect to is a local fault, unless its owner refuses another address of the name', async () => {
  const broadcast = createTestClient({ lookup: async () => ['255.255.255.255'] });
  expect(await broadcast.send(post('http://receiver.test:9/'))).toMatchObject({ error: 'local', status: 0 });
  const both = createTestClient({ lookup: async () => ['127.0.0.1', '255.255.255.255'] });
  expect(await both.send(post(`http://receiver.test:${await freePort()}/`))).toMatchObject({ error: 'connect' });
});
