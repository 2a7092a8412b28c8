import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCompression } from '../../../../../services/api/http/compress-answers.ts';

const LONG = { text: 'grün '.repeat(500) };
const DOCUMENT = Buffer.from(JSON.stringify(LONG));
const ETAG = 'W/"one"';

let server: Server;

beforeAll(async () => {
  const app = express();
  app.disable('etag');
  app.use(createCompression());
  app.get('/long', (_request, response) => void response.json(LONG));
  app.get('/document', (_request, response) => void response.set('ETag', ETAG).type('json').send(DOCUMENT));
  app.get('/stream', (_request, response) => {
    response.type('text/event-stream');
    response.write('data: first\n\n');
    // Ends only after the client has the first event.
    response.req.once('close', () => response.end(LONG.text));
  });
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

function ask(path: string, accept: string | undefined, method = 'GET', headers = {}): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  const all = { ...headers, ...(accept === undefined ? {} : { 'accept-encoding': accept }) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: '127.0.0.1', path, method, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (path === '/stream') response.destroy();
      });
      response.on('close', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.once('error', reject).end();
  });
}

describe('answers over 1 KiB', () => {
  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'gzip'],
    ['br, gzip', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['*', 'br'],
  ])('are compressed for %s', async (accept, encoding) => {
    const { headers, body } = await ask('/long', accept);
    expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' });
    expect(headers['content-length']).toBe(String(body.length));
    expect(body.length).toBeLessThan(500);
    const text = encoding === 'br' ? brotliDecompressSync(body) : gunzipSync(body);
    expect(JSON.parse(text.toString())).toEqual(LONG);
  });

  test.each([[undefined], [''], ['identity'], ['deflate'], ['gzip;q=0, br;q=0'], ['zstd'], ['gzip;q=0.1, identity']])(
    'are not for %s',
    async (accept) => {
      const { headers, body } = await ask('/long', accept);
      expect(headers['content-encoding']).toBeUndefined();
      expect(headers.vary).toBe('Accept-Encoding');
      expect([headers['content-length'], JSON.parse(body.toString())]).toEqual([String(DOCUMENT.length), LONG]);
    },
  );
});

test('an event stream is sent as it is written', async () => {
  const { headers, body } = await ask('/stream', 'gzip, br');
  expect([headers['content-encoding'], body.toString()]).toEqual([undefined, 'data: first\n\n']);
});

test('a document has one weak ETag in all its forms, and 304 answers it', async () => {
  for (const accept of ['gzip', 'br', undefined]) {
    expect((await ask('/document', accept)).headers.etag).toBe(ETAG);
    const again = await ask('/document', accept, 'GET', { 'if-none-match': ETAG });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, ETAG]);
    expect(again.headers).toMatchObject({ vary: 'Accept-Encoding' });
    expect(again.headers).not.toHaveProperty('content-encoding');
  }
});
