import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from '../../integration/deliveries/scenarios.cases.ts';

export interface EndpointRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface ScriptedEndpoint {
  /** Without a trailing slash. */
  url: string;
  received: EndpointRequest[];
  stop(): Promise<void>;
}

/**
 * A real HTTP server on loopback that does with each request what `answerTo` says.
 *
 * @param now the moment from which HTTP dates are counted, in milliseconds since the epoch
 */
export async function startScriptedEndpoint(
  answerTo: (request: EndpointRequest) => Answer,
  now: () => number = Date.now,
): Promise<ScriptedEndpoint> {
  const received: EndpointRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const whole = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
      received.push(whole);
      give(answerTo(whole), response, now);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function give(answer: Answer, response: ServerResponse, now: () => number): void {
  if (answer === 'never answers') return;
  if (answer === 'resets the connection') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (typeof answer === 'number') {
    response.writeHead(answer, { location: '/elsewhere' }).end();
  } else if ('retryAfter' in answer) {
    response.writeHead(answer.status, { 'Retry-After': answer.retryAfter, location: '/elsewhere' }).end(answer.body);
  } else if ('retryAtSeconds' in answer) {
    const moment = new Date(now() + answer.retryAtSeconds * 1_000);
    response.writeHead(answer.status, { 'Retry-After': moment.toUTCString() }).end();
  } else {
    giveContent(answer.content, response.writeHead(answer.status));
  }
}

function giveContent(content: 'one megabyte' | 'without end' | 'cut off', response: ServerResponse): void {
  if (content === 'one megabyte') {
    response.end('x'.repeat(1_000_000));
  } else if (content === 'without end') {
    const writing = setInterval(() => response.write('and so on, '), 50);
    response.on('close', () => {
      clearInterval(writing);
    });
  } else {
    response.write('begun', () => response.socket?.resetAndDestroy());
  }
}
