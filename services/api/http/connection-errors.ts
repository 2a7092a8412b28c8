import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestHandler } from 'express';
import { countHosts } from '../../../shared/http/host-header.ts';
import { ApiError } from './api-error.ts';

/** The query and the headers together; enough for a hundred long URLs to look up. */
export const REQUEST_HEAD_BYTES = 64 * 1024;

/**
 * Answers input that is not HTTP, too large or too slow with the error envelope, and closes the connection. Such input
 * never reaches a route, so nothing is charged.
 */
export function answerConnectionErrors(server: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', (request, response) => latest.set(request.socket, response));
  server.on('clientError', (error: ClientError, socket) => {
    const response = latest.get(socket);
    const isBeingAnswered = response?.headersSent === true && !response.writableFinished;
    // When the peer reset the connection, or an answer is under way, nothing can be sent.
    if (error.code === 'ECONNRESET' || !socket.writable || isBeingAnswered) {
      socket.destroy();
      return;
    }
    const refusal = new ApiError('invalid_request', messageOf(error));
    const body = JSON.stringify(refusal.envelope);
    const head = [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomUUID()}`,
      'Cache-Control: no-store',
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
  // `refuseBrokenRules` refuses it.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
}

/** HTTP/1.1 requires a Host, once, and knows one expectation. @throws ApiError invalid_request */
export const refuseBrokenRules: RequestHandler = (request, _response, next) => {
  const hosts = countHosts(request);
  if (hosts === 0 && request.httpVersion === '1.1') throw new ApiError('invalid_request', 'Host: is required.');
  if (hosts > 1) throw new ApiError('invalid_request', 'Host: must be given once.');
  if (!/^(?:100-continue)?$/i.test(request.headers.expect ?? '')) {
    throw new ApiError('invalid_request', 'Expect: must be 100-continue, or absent.');
  }
  next();
};

/** What Node.js reports about input that it cannot parse. */
type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer };

function messageOf({ code, rawPacket }: ClientError): string {
  if (code === 'HPE_INVALID_URL' || (code === 'HPE_INVALID_CONSTANT' && hasSpaceInTarget(rawPacket))) {
    return 'The URL has a space or another character that must be percent-encoded: percent-encode the URL.';
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return `The query and the headers must have at most ${REQUEST_HEAD_BYTES / 1024} KiB together.`;
  }
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'The request did not arrive whole in time.' : 'This is not valid HTTP.';
}

/** Whether it begins with a request line whose target has a space. */
function hasSpaceInTarget(packet: Buffer = Buffer.of()): boolean {
  const line = packet.subarray(0, REQUEST_HEAD_BYTES).toString('latin1').split('\n', 1)[0]?.trimEnd() ?? '';
  const words = line.split(' ');
  return (
    words.length > 3 && /^[A-Z]+$/.test(words[0]!) && words[1]!.startsWith('/') && /^HTTP\/1\.[01]$/.test(words.at(-1)!)
  );
}
