import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import express from 'express';
import { afterEach, expect, test } from 'vitest';
import { sendStream } from '../../../../../services/api/http/response-stream.ts';
import type { ResponseStream } from '../../../../../services/api/http/response-stream.ts';

/** A stream that never ends. */
class Endless implements ResponseStream {
  readonly stallMs: number;
  readonly ending = new AbortController();
  readonly ended = this.ending.signal;
  closed = 0;

  constructor(stallMs: number) {
    this.stallMs = stallMs;
  }

  async *pieces(): AsyncGenerator<string> {
    while (!this.ended.aborted) {
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

let server: Server;
let client: Socket;

afterEach(() => {
  client.destroy();
  server.close();
});

/** Serves the stream to a client that reads the beginning. `sent` is the error of sending, if it failed. */
async function serve(stream: ResponseStream): Promise<{ sent: Promise<unknown> }> {
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
