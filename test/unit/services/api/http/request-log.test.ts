import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import express from 'express';
import type { RequestHandler, Response } from 'express';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRequestLog } from '../../../../../services/api/http/request-log.ts';
import { createLogger } from '../../../../../shared/runtime/logger.ts';

/** Serves one handler with the log, at each path. */
async function served(handler: RequestHandler, level = 'info') {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const app = express().use(createRequestLog(createLogger(level, sink)), handler);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { lines, port, url: `http://127.0.0.1:${port}` };
}

test('a client that disconnects leaves a line too', async () => {
  const { lines, port } = await served(() => undefined);
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    setTimeout(() => socket.destroy(), 50);
  });
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(lines[0]).toMatchObject({ path: '/slow', remote: '127.0.0.1', msg: 'request aborted' });
});

test('an error of a response is logged once, and does not end the process', async () => {
  let failed: Response | undefined;
  const { lines, url } = await served((_request, response) => {
    failed = response;
    response.end('whole');
    response.write('more');
  });
  await (await fetch(url)).text().catch(() => undefined);
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(lines[0]).toMatchObject({ msg: 'request errored' });
  failed!.emit('error', new Error('again'));
  expect(lines).toHaveLength(1);
});
