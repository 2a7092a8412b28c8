import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import express from 'express';
import { afterEach, expect, test } from 'vitest';
import { sendStream } from '../../../../../services/api/http/answer-stream.ts';
import type { AnswerStream } from '../../../../../services/api/http/answer-stream.ts';

/** A stream that never ends. */
class Endless implements AnswerStream {
  readonly stallMs: number;
  readonly ending = new AbortController();
  readonly ended = this.ending.signal;
  taken = 0;
  closed = 0;
  private readonly failsAt: number;

  constructor(stallMs: number, failsAt = Number.POSITIVE_INFINITY) {
    this.stallMs = stallMs;
    this.failsAt = failsAt;
  }

  async *pieces(): AsyncGenerator<string> {
    while (!this.ended.aborted) {
      if (this.taken === this.failsAt) throw new Error('no more');
      this.taken++;
      yield 'x'.repeat(100_000);
    }
  }

  end(): void {
    this.ending.abort();
  }

  close(): Promise<void> {
    this.closed++;
    return Promise.resolve();
  }
}

const FOREVER_MS = 3_600_000;
let server: Server;
let client: Socket;

afterEach(() => {
  client.destroy();
  server.close();
});

/** Serves the stream to a client that reads the beginning. `sent` is the error of sending, if it failed. */
async function serve(stream: AnswerStream): Promise<{ sent: Promise<unknown> }> {
  const app = express();
  const { promise, resolve } = Promise.withResolvers<{ sent: Promise<unknown> }>();
  app.get('/', (_request, response) => {
    const sent = sendStream(stream, response).then(
      () => undefined,
      (error: unknown) => error,
    );
    resolve({ sent });
  });
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const serving = await promise;
  await once(client, 'data');
  return serving;
}

test('a client that reads nothing for too long is disconnected, and the stream ends', async () => {
  const stream = new Endless(200);
  const { sent } = await serve(stream);
  client.pause();
  expect(await sent).toBeUndefined();
  expect([stream.ended.aborted, stream.closed]).toEqual([true, 1]);
});

test('a stream that fails is closed, and the error is reported', async () => {
  const stream = new Endless(FOREVER_MS, 3);
  const { sent } = await serve(stream);
  client.resume();
  expect(await sent).toMatchObject({ message: 'no more' });
  expect(stream.closed).toBe(1);
});
