import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BrokerSockets } from '../../../../shared/kafka/broker-sockets.ts';

const PRODUCE = 0;
const FETCH = 1;
const JOIN_GROUP = 11;
const SASL_HANDSHAKE = 17;
const OTHER = 'other:9092';

let server: Server;
let accepted: Socket[];
let now: number;
let sockets: BrokerSockets;
let broker: string;

/** A broker that accepts connections and says nothing. */
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  accepted = [];
  server = createServer((socket) => void accepted.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  broker = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  now = 1_000_000;
  sockets = new BrokerSockets([broker, OTHER], () => now);
});
afterEach(() => {
  vi.useRealTimers();
  for (const socket of accepted) socket.destroy();
  server.close();
});

/** Connects as kafkajs does. `failure` resolves to the code of the error. */
async function connect(): Promise<{ socket: Socket; failure: Promise<unknown> }> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const port = Number(broker.split(':')[1]);
  const onConnect = () => resolve(undefined);
  const socket = sockets.connect({ host: '127.0.0.1', port, onConnect });
  const failure = new Promise((fail) => socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code)));
  await Promise.race([promise, failure]);
  return { socket, failure };
}

async function connectAnswered(): Promise<{ socket: Socket; failure: Promise<unknown> }> {
  const connection = await connect();
  await vi.waitFor(() => expect(accepted).toHaveLength(1));
  connection.socket.write(request(SASL_HANDSHAKE));
  accepted[0]!.write(answer(4));
  await once(connection.socket, 'data');
  return connection;
}

function request(apiKey: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeInt16BE(apiKey, 4);
  return bytes;
}

function answer(bytes: number): Buffer {
  const frame = Buffer.alloc(4 + bytes);
  frame.writeInt32BE(bytes);
  return frame;
}

test('a seed that hangs is avoided for a while, and so is its broker', async () => {
  expect(sockets.seeds()).toEqual([broker, OTHER]);
  const { socket: asked, failure } = await connect();
  asked.write(request(SASL_HANDSHAKE));
  vi.advanceTimersByTime(3_000);
  expect(await failure).toBe('ETIMEDOUT');
  expect(sockets.seeds()).toEqual([OTHER, broker]);
  expect(await (await connect()).failure).toBe('ECONNREFUSED');
  now += 10_000;
  const { socket } = await connect();
  expect(socket.destroyed).toBe(false);
  socket.destroy();
  expect(sockets.seeds()).toEqual([OTHER, broker]);
  now += 50_000;
  expect(sockets.seeds()).toEqual([broker, OTHER]);
});

test('where an answer is overdue, all connections to the broker fail', async () => {
  const { socket, failure } = await connectAnswered();
  const { failure: ofAnother } = await connect();
  vi.advanceTimersByTime(60_000);
  expect(socket.destroyed).toBe(false);
  socket.write(request(FETCH));
  vi.advanceTimersByTime(6_000);
  expect(await Promise.all([failure, ofAnother])).toEqual(['ETIMEDOUT', 'ETIMEDOUT']);
  expect(sockets.seeds()).toEqual([OTHER, broker]);
});

test.each([
  ['answered only the first of two requests', answer(4)],
  ['hangs in the middle of an answer', Buffer.concat([answer(4), answer(100).subarray(0, 50)])],
])('a broker that %s is noticed', async (_, answered) => {
  const { socket, failure } = await connectAnswered();
  socket.write(request(FETCH));
  socket.write(request(FETCH));
  accepted[0]!.write(answered);
  await once(socket, 'data');
  vi.advanceTimersByTime(6_000);
  await new Promise(setImmediate);
  expect(socket.destroyed).toBe(true);
  expect(await failure).toBe('ETIMEDOUT');
});

test('a leader that waits for a follower that hangs is asked again', async () => {
  const { socket, failure } = await connectAnswered();
  socket.write(request(PRODUCE));
  vi.advanceTimersByTime(6_000);
  expect(await failure).toBe('ETIMEDOUT');
  expect(sockets.seeds()).toEqual([broker, OTHER]);
});

test('a member of a group has a minute to join', async () => {
  const { socket, failure } = await connectAnswered();
  socket.write(request(JOIN_GROUP));
  vi.advanceTimersByTime(65_000);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(5_000);
  expect(await failure).toBe('ETIMEDOUT');
});
