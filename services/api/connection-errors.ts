import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from './api-error.ts';

/** Query strings and headers together: a hundred long URLs to look up. */
export const REQUEST_HEAD_BYTES = 64 * 1024;

/**
 * Answers what is no HTTP, too large or too slow to become a request, with the envelope of all refusals, and closes the
 * connection. Nothing of it reaches a route, so nothing is charged.
 */
export function answerConnectionErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Reset by the other side, or an answer is under way already: nothing can be said.
    const answered = (socket as Duplex & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
    if (error.code === 'ECONNRESET' || !socket.writable || answered === true) {
      socket.destroy();
      return;
    }
    const { status, refusal } = refusalOf(error.code);
    const body = JSON.stringify(refusal.envelope);
    const head = [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomUUID()}`,
      'Cache-Control: no-store',
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

function refusalOf(code: string | undefined): { status: string; refusal: ApiError } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The query and the headers must have at most ${REQUEST_HEAD_BYTES / 1024} KiB together.`;
    return { status: '431 Request Header Fields Too Large', refusal: new ApiError('payload_too_large', message) };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const message = 'The request did not arrive whole in time.';
    return { status: '408 Request Timeout', refusal: new ApiError('invalid_request', message) };
  }
  return { status: '400 Bad Request', refusal: new ApiError('invalid_request', 'This is not valid HTTP.') };
}
