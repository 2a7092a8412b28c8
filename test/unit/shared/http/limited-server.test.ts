import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createLimitedServer } from '../../../../shared/http/limited-server.ts';
import type { ServerLimits } from '../../../../shared/http/limited-server.ts';
import { readAnswers } from '../../../support/clients/pipelined-answers.ts';

/** More than the kernel buffers for a connection that nobody reads. */
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'x');
/** Long enough that a test which waits for it fails by its own deadline. */
const NEVER_MS = 3_600_000;

let server: Server | undefined;
let clients: Socket[] = [];

afterEach(() => {
  for (const client of clients) client.destroy();
  clients = [];
  server?.close();
  server?.closeAllConnections();
});

async function listen(listener: RequestListener, limits: Partial<ServerLimits> = {}): Promise<void> {
  server = createLimitedServer(listener, { idleMs: NEVER_MS, sendMs: NEVER_MS, checkMs: 50, ...limits });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

function client(): Socket {
  const socket = connect((server!.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  clients.push(socket);
  return socket;
}

/** A client that sends and never reads. */
function deafClient(text: string): Socket {
  const socket = client();
  socket.pause();
  socket.write(text);
  return socket;
}

function get(path: string | number, headers = ''): string {
  return `GET /${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
}

function gets(count: number, headers = ''): string {
  return Array.from({ length: count }, (_, index) => get(index, headers)).join('');
}

/** Also when the connection is reset. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** The server's socket of the next connection. */
async function accepted(): Promise<Socket> {
  const [socket] = (await once(server!, 'connection')) as [Socket];
  return socket;
}

test('disconnects a client that sends a request before it has the answer to the one before', async () => {
  const paths: string[] = [];
  await listen((request, response) => {
    paths.push(request.url ?? '');
    response.write('begun');
  });
  const connection = accepted();
  deafClient(gets(1_461));
  await closed(await connection);
  const other = client();
  other.write(get('other'));
  await once(other, 'data');
  // Without this: all requests of the first chunk at once, with 1,461 responses in memory.
  expect(paths).toEqual(['/0', '/other']);
});

test('answers requests one after the other on one connection', async () => {
  await listen((_request, response) => void setImmediate(() => response.end(LARGE.subarray(0, 1_000_000))));
  const socket = client();
  for (let round = 0; round < 200; round++) {
    socket.write(get(round));
    expect(await readAnswers(socket, 1)).toHaveLength(1);
  }
});

test('disconnects a client that does not read its response in time, even when it reads a little all the time', async () => {
  await listen((_request, response) => response.end(LARGE), { sendMs: 300 });
  const connection = accepted();
  const socket = client();
  socket.pause();
  socket.write(get('slow'));
  const sip = setInterval(() => void socket.read(1), 20);
  await closed(await connection);
  clearInterval(sip);
});

test('disconnects the clients that wait longest when unsent responses exceed their limit', async () => {
  await listen((_request, response) => response.end(LARGE), { unsentBytes: 3.5 * LARGE.length });
  const connections: Socket[] = [];
  for (let index = 0; index < 5; index++) {
    const requested = once(server!, 'request') as Promise<[IncomingMessage]>;
    deafClient(get(index));
    const [request] = await requested;
    connections.push(request.socket);
  }
  await vi.waitFor(
    () => {
      expect(connections.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false, false]);
    },
    { timeout: 30_000 },
  );
});

test('closes one connection too many and all idle connections', async () => {
  await listen((_request, response) => response.end(), { connections: 2 });
  const idle = client();
  idle.write(get('first'));
  await readAnswers(idle, 1);
  const busy = client();
  busy.write('GET / HTTP/1.1\r\n');
  await once(busy, 'connect');
  await Promise.all([closed(client()), closed(idle)]);
  const next = client();
  next.write(get('next'));
  expect((await readAnswers(next, 1))[0]?.head).toContain('200 OK');
  expect(busy.destroyed).toBe(false);
});

test('refuses a request with two Host headers, of which a proxy may believe the other one', async () => {
  await listen((_request, response) => response.end());
  const socket = client();
  socket.write(get('two', 'hOST: evil.example\r\n'));
  expect((await readAnswers(socket, 1))[0]?.head).toContain('400 Bad Request');
});

test.each([
  ['headers', { headersMs: 200 }, 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '],
  ['a body', { headersMs: 100, requestMs: 200 }, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n'],
  ['nothing', { headersMs: 200 }, ''],
])('disconnects a client that sends %s too slowly', async (_what, limits, text) => {
  await listen((request) => request.resume(), limits);
  const socket = client();
  socket.write(text);
  socket.resume();
  const drip = setInterval(() => socket.write('x'), 20);
  if (text === '') clearInterval(drip);
  await closed(socket);
  clearInterval(drip);
});
